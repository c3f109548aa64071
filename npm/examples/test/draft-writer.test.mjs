// Much configuration, and drafts that stay inside the home.
import assert from 'node:assert/strict'
import { mkdir, readdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { runAdvance } from 'warpline'
import {
  configure,
  errorOf,
  grant,
  install,
  readJson,
  temporaryHome,
  testHome,
} from './support.mjs'

const draft = (home, config = {}, options = {}) =>
  home.run('draft-writer', { config: { title: 'Sesame\n# street', ...config }, ...options })

test('a draft is laid out once, and handed over until somebody has written it', async (t) => {
  const home = await testHome(t)
  const { result } = await draft(home, { sections: ['One', 'Two'] })
  const [{ path }] = result.artifacts_produced
  assert.equal(result.status, 'skipped')
  assert.match(path, /\/drafts\/draft-[0-9a-f]{12}\.md$/)
  const file = path.slice(home.path.length + 1)
  assert.equal(await home.read(file), '# Sesame # street\n\n## One\n\n## Two\n\n')
  const context = JSON.parse(await home.read(result.needs_llm.context_path))
  assert.deepEqual(context, {
    draft: file,
    brief: {
      title: 'Sesame # street',
      audience: 'people who know the subject',
      tone: 'plain',
      sections: ['One', 'Two'],
      words_max: 600,
      cite_sources: true,
      notes: null,
    },
  })
  assert.deepEqual(
    [result.reversible, result.undo_instruction],
    [true, `delete ${file} of the home`],
  )
  assert.doesNotMatch(JSON.stringify(result), /Sesame/)

  const again = await draft(home, { sections: ['One', 'Two'] })
  assert.deepEqual(again.result.needs_llm, result.needs_llm)
  await home.write(file, 'what somebody wrote')
  const done = await draft(home, { sections: ['One', 'Two'] })
  assert.deepEqual([done.result.status, done.result.needs_llm], ['success', undefined])
  assert.equal(await home.read(file), 'what somebody wrote')
  await draft(home, { words_max: 100 })
  assert.equal((await readdir(join(home.path, 'drafts'))).length, 2, 'another brief, another draft')
})

test('notes are read where the home holds them, and nowhere else', async (t) => {
  const home = await testHome(t)
  await home.write('notes/a.txt', 'what is known')
  const { result } = await draft(home, { notes_path: 'notes/a.txt' })
  const { brief } = JSON.parse(await home.read(result.needs_llm.context_path))
  assert.equal(brief.notes, 'what is known')
  await symlink('/etc', join(home.path, 'elsewhere'))
  await mkdir(join(home.path, 'folder'))
  for (const notes_path of [
    '/etc/hostname',
    '../../etc/hostname',
    'elsewhere/hostname',
    'none.txt',
    'folder',
    '',
  ]) {
    const ended = await draft(home, { notes_path })
    assert.equal(errorOf(ended).code, 'data_missing', notes_path)
    assert.match(errorOf(ended).message, /^input `notes_path`/)
    assert.doesNotMatch(JSON.stringify(ended.result), /hostname/)
  }
})

test('each input is checked before anything is written', async (t) => {
  const home = await testHome(t)
  for (const [name, value] of [
    ['title', ' \n'],
    ['audience', ''],
    ['tone', 'sesame'],
    ['sections', []],
    ['sections', ['sesame', 5]],
    ['sections', Array(21).fill('sesame')],
    ['words_max', 49],
    ['words_max', 60.5],
    ['words_max', 'sesame'],
    ['cite_sources', 'sesame'],
  ]) {
    const ended = await draft(home, { [name]: value })
    assert.equal(errorOf(ended).code, 'parse_error')
    assert.match(errorOf(ended).message, new RegExp(`\`?'?${name}`))
    assert.doesNotMatch(JSON.stringify(ended.result), /sesame/)
  }
  assert.equal(await readdir(join(home.path, 'drafts')).catch((error) => error.code), 'ENOENT')
  await assert.rejects(draft(home, {}, { granted: false }), { code: 'ERR_WARPLINE_OPTION' })
})

test('an advance lays nothing out without a grant; the draft stays on record', async (t) => {
  const home = await temporaryHome(t)
  await install(home, 'draft-writer')
  await configure(home, 'draft-writer', { title: 'T' })
  assert.equal((await runAdvance()).plugin_states.get('draft-writer'), 'skipped')
  await grant(home, 'draft-writer')
  await runAdvance()
  const { plugin_runs } = await readJson(home, 'state/engine-state.json')
  assert.equal(plugin_runs['draft-writer'].status, 'skipped')
  assert.equal(plugin_runs['draft-writer'].last_output.type, 'draft')
})
