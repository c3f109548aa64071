#!/usr/bin/env node
// The command `warpline`. Old versions of Node can read this file, and are told what they lack.

import { readFileSync } from 'node:fs'

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))

const floor = engines.node.replace('>=', '')
const [major, minor] = process.versions.node.split('.').map(Number)
const [floorMajor, floorMinor] = floor.split('.').map(Number)

if (major < floorMajor || (major === floorMajor && minor < floorMinor)) {
  process.stderr.write(
    `error: warpline needs Node.js ${floor} or newer, and this is ${process.versions.node}\n`,
  )
  process.exitCode = 1
} else {
  import('../lib/cli.js').then(
    (cli) => cli.main(process.argv.slice(2)),
    (error) => {
      process.stderr.write(`error: ${error.message}\n`)
      process.exitCode = 1
    },
  )
}
