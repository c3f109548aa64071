// Hostile text in names, results and documents: no command hands a terminal anything but plain text, and no
// word of it becomes an option, a line or a member of a prototype.
import assert from 'node:assert/strict'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { hosts } from '../support.mjs'
import { account, place, plugin, READING, returns, warpline, write } from './support/home.mjs'

const EVIL =
  'a\u001b[2J\u001b]8;;http://x\u0007l\u001b]52;c;aGk=\u0007\u009b31m\u0090q\u202eb\u2066c\u200f\ufeff\r\nerror: forged\u0000\u007f\u2028\u2029z'
const FORBIDDEN = new RegExp(
  `[${[
    '\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u200e\\u200f',
    '\\u202a-\\u202e\\u2066-\\u2069\\ufeff',
  ].join('')}]`,
)

const event = (id, type, more) =>
  JSON.stringify({
    event_id: id,
    event_type: type,
    timestamp: new Date().toISOString(),
    plugin: EVIL,
    summary: EVIL,
    ...more,
  })

for (const host of Object.keys(hosts)) {
  describe(`hostile text under ${host}`, () => {
    test('every report is plain text, a line for a line', async (t) => {
      const { home } = place(t)
      const fields = { summary: EVIL, data_freshness: { [EVIL]: EVIL }, phases_completed: [EVIL] }
      plugin(host, home, 'tells', returns(host, fields), { description: EVIL, name: EVIL })
      plugin(host, home, 'parks', returns(host, fields), {
        autonomy_level: 'supervised',
        description: EVIL,
      })
      plugin(
        host,
        home,
        'fails',
        returns(host, {
          status: 'failed',
          errors: [{ code: 'unknown', message: EVIL, impact: 'LOW' }],
        }),
      )
      plugin(
        host,
        home,
        'hands',
        returns(host, { status: 'skipped', needs_llm: { task: EVIL, context_path: 'c/x' } }),
      )
      plugin(host, home, 'a\u001b[31mname\u202e', returns(host))
      plugin(host, home, '--all', returns(host))
      plugin(host, home, '$(touch pwned)', returns(host), { autonomy_level: 'supervised' })
      const looks = [
        ['advance'],
        ['advance', '--force'],
        ['deny', 'tells', '--note', EVIL.replaceAll('\u0000', '')],
        ['show', 'tells'],
        ['show', 'parks'],
        ['log', 'fails'],
        ['plan', '--explain', 'parks'],
        ['approve', 'parks'],
        ['run', 'hands', 'now'],
        ['approve', EVIL.replaceAll('\u0000', '')],
        ['completions', 'names'],
        ...READING.filter((words) => !words.includes('--json')),
      ]
      for (const words of looks) {
        const ended = await warpline(host, home, words)
        const said = ended.stdout + ended.stderr
        const at = FORBIDDEN.exec(said)
        assert.equal(
          at,
          null,
          `${words}: ${JSON.stringify(said.slice((at?.index ?? 0) - 60, (at?.index ?? 0) + 60))}`,
        )
        assert.doesNotMatch(said, /^error: forged/m, `${words}`)
        // A command to be copied has the name as one word.
        assert.doesNotMatch(
          said.replaceAll("'$(touch pwned)'", ''),
          /warpline \w+ .*\$\(touch/,
          `${words}`,
        )
        assert.doesNotMatch(said, /warpline (approve|show|forget) --all/, `${words}`)
      }
    })

    test('documents full of it are shown the same way, and pollute nothing', async (t) => {
      const { home } = place(t)
      const body =
        host === 'node'
          ? "if ({}.polluted !== undefined || {}.status !== undefined) throw new Error('polluted')\n"
          : ''
      plugin(host, home, 'fine', body + returns(host))
      const bad =
        '"__proto__":{"polluted":1,"status":"x"},"constructor":{"prototype":{"polluted":1}}'
      write(home, {
        'state/events.jsonl': `${event('e1', 'run_started', {})}\n{${bad}}\n${event('__proto__', 'gate_invalidated', {})}\nnot json ${EVIL}\n`,
        'state/acknowledgements.json': `{"__proto__":{"acknowledged_at":"x","action_taken":"action"}}`,
        'runs/r1.json': `{"run_id":"r1",${bad}}`,
        'logs/runs/2026-01-01.jsonl': `{"ts":${JSON.stringify(EVIL)},${bad}}\n`,
        'preferences.json': `{${bad}}`,
        'config/fine.json': `{${bad}}`,
        '.session-approval': `{${bad}}`,
        'state/engine-state.json': `{"schema_version":1,"plugin_runs":{"__proto__":{}},${bad}}`,
      })
      chmodSync(join(home, '.session-approval'), 0o600)
      for (const words of [
        ...READING,
        ['advance'],
        ['run', 'fine', 'now'],
        ['run', 'fine', 'now', '--input', '__proto__=x'],
        ['show', 'fine'],
      ]) {
        const ended = await warpline(host, home, words)
        assert.ok([0, 1, 75].includes(ended.status), account(ended))
        const said = ended.stdout + ended.stderr
        if (!words.includes('--json')) assert.equal(FORBIDDEN.exec(said), null, `${words}`)
        assert.doesNotMatch(said, /polluted|panick|Traceback/, said)
      }
    })
  })
}

test('a word that looks like an option is one nowhere else', async (t) => {
  const { home, around } = place(t)
  plugin('node', home, '-x', returns('node'))
  plugin(
    'node',
    home,
    'fine',
    'return { status: "success", phases_completed: [], phases_failed: [], data_freshness: {}, summary: JSON.stringify(args) }',
  )
  const runs = [
    [['run', 'fine', 'now', '--input', 'a=b=c'], 0, /a=?.*b=c/],
    [['run', 'fine', 'now', '--input=--home=/x'], 0, /--home/],
    [['run', 'fine', 'now', '--input', '=x'], 1, /^error/m],
    [['run', 'fine', 'now', '--home'], 1, /^error/m],
    [['run', '--home', home, 'fine', 'now'], 0, /./],
    [['--home', home, 'run', 'fine', 'now'], 0, /./],
    [['run', '-x', 'now'], 1, /^error/m],
    [['run', '--', '-x', 'now'], 0, /./],
    [['approve', '-x'], 1, /^error/m],
    [['plan', '--plugins', '--json'], 1, /^error/m],
  ]
  for (const [words, status, says] of runs) {
    const ended = await warpline('node', home, words, { WARPLINE_PLUGINS_DIR: '' })
    assert.equal(ended.status, status, `${words}\n${account(ended)}`)
    assert.match(ended.stdout + ended.stderr, says, `${words}`)
  }
  assert.ok(around)
})
