#!/usr/bin/env node
// The command `warpline`. Old versions of Node can read this file, and are told what they lack.

'use strict'

// As package.json has it, which takes longer to read.
const FLOOR = '20.10'

const [major, minor] = process.versions.node.split('.').map(Number)
const [floorMajor, floorMinor] = FLOOR.split('.').map(Number)

if (major < floorMajor || (major === floorMajor && minor < floorMinor)) {
  process.stderr.write(
    `error: warpline needs Node.js ${FLOOR} or newer, and this is ${process.versions.node}\n`,
  )
  process.exitCode = 1
} else {
  try {
    const args = process.argv.slice(2)
    // A command that only tells something is over before anything else is loaded.
    const code = require('../lib/native.js').native().runAlone(args)
    if (code === null) require('../lib/cli.js').main(args)
    else process.exit(code)
  } catch (error) {
    process.stderr.write(`error: ${error.message}\n`)
    process.exitCode = 1
  }
}
