// Plugins that damage the home they run in, while they run.

import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { makeHome } from './support/home.js'
import { command, intact, pluginOf, SIBLING, survives, works } from './support/hostile.js'

const TOP = `import fs from 'node:fs'
const home = process.env.WARPLINE_HOME ?? ''
const state = home + '/state/engine-state.json'`
const FINE = "return skillOk('fine')"

/** @type {import('./support/hostile.js').Row[]} */
const rows = [
  {
    name: 'deletes-runs',
    handler: `fs.rmSync(home + '/runs', { recursive: true, force: true }); ${FINE}`,
  },
  {
    name: 'deletes-state',
    handler: `fs.rmSync(home + '/state', { recursive: true, force: true }); ${FINE}`,
  },
  {
    name: 'deletes-home',
    handler: `for (const name of fs.readdirSync(home)) if (name !== 'plugins') fs.rmSync(home + '/' + name, { recursive: true }); ${FINE}`,
  },
]

describe('a hostile plugin and its home', { concurrency: 2 }, () => {
  for (const row of rows) {
    test(row.name, () => survives({ ends: 'completed', top: TOP, ...row }))
  }

  const refused = {
    garbage: "fs.writeFileSync(state, '{ not json')",
    newer: `fs.writeFileSync(state, JSON.stringify({ schema_version: 99 }))`,
    directory: 'fs.mkdirSync(state)',
  }
  for (const [what, code] of Object.entries(refused)) {
    test(`${what} in the place of the state document is kept, told, and refused by the next`, async () => {
      const handler = `fs.mkdirSync(home + '/state', { recursive: true }); ${code}; ${FINE}`
      const row = { name: 'overwrites', top: TOP, handler }
      const { home } = makeHome({ overwrites: pluginOf(row), sibling: SIBLING })
      for (const expected of [1, 75]) {
        const advance = await command(home, ['advance', '--json'])
        assert.equal(advance.code, expected, advance.stdout + advance.stderr)
        assert.match(advance.stderr, /^error: .*engine-state\.json/m)
        rmSync(join(home, 'plugins', 'overwrites'), { recursive: true, force: true })
      }
      rmSync(join(home, 'state', 'engine-state.json'), { recursive: true })
      await works(home)
      const { logs } = intact(home)
      assert.deepEqual(
        logs.map(({ status }) => status),
        ['complete', 'complete'],
      )
    })
  }
})
