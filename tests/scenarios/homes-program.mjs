// Whole homes, step by step, under a host that runs no language: UPDATE=1 writes what is expected of all hosts.
import { before } from 'node:test'
import { build, players, scenarios, suite } from './harness/suite.mjs'

before(build)
suite(players.program, scenarios(), { writes: true })
