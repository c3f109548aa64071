#!/usr/bin/env node
// The command `warpline`. Old versions of Node can read this file, and are told what they lack.

const { engines } = require('../package.json')

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
