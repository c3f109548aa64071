// Work that only a person starts, from what that person types.
import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { runAdvance } from 'warpline'
import { configure, errorOf, grant, install, temporaryHome, testHome } from './support.mjs'

const now = '2026-03-11T08:00:00.000Z'
const add = (home, args) => home.run('note-intake', { now, args: { action: 'add', ...args } })

test('what is typed is filed once', async (t) => {
  const home = await testHome(t)
  const { result } = await add(home, { text: 'sesame \n', tag: 'ideas' })
  const [{ path }] = result.artifacts_produced
  const file = path.slice(home.path.length + 1)
  assert.match(file, /^inbox\/[0-9a-f]{12}\.md$/)
  assert.equal(await home.read(file), `<!-- ideas, filed ${now} -->\n\nsesame\n`)
  assert.doesNotMatch(JSON.stringify(result), /sesame|ideas/)
  await home.write(file, 'what a person added')
  assert.equal(
    (await add(home, { text: 'sesame', tag: 'ideas' })).result.summary,
    'this note was there before',
  )
  assert.equal(await home.read(file), 'what a person added')
  await add(home, { text: 'another' })
  assert.equal((await readdir(join(home.path, 'inbox'))).length, 2)
})

test('what cannot be filed is refused without its words', async (t) => {
  const home = await testHome(t)
  for (const args of [
    {},
    { text: ' \n' },
    { text: 'sesame'.repeat(5000) },
    { text: 'x', tag: '../sesame' },
    { text: 'x', tag: '' },
    { text: 'x', action: 'sesame' },
  ]) {
    const ended = await add(home, args)
    assert.equal(errorOf(ended).code, 'parse_error')
    assert.doesNotMatch(JSON.stringify(ended.result), /sesame/)
  }
  assert.equal(await home.read('inbox'), null)
})

test('no advance reaches it', async (t) => {
  const home = await temporaryHome(t)
  await install(home, 'note-intake')
  await configure(home, 'note-intake', { text: 'from a file' })
  await grant(home, 'note-intake')
  for (const options of [{}, { force: true }, { profile: 'daily' }, { profile: 'manual' }]) {
    const { plugin_states } = await runAdvance(options)
    assert.equal(plugin_states.get('note-intake'), 'skipped', JSON.stringify(options))
  }
  assert.equal(await readdir(join(home, 'inbox')).catch((error) => error.code), 'ENOENT')
})
