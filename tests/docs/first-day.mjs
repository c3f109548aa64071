// Replays docs/first-day.md in a pseudo-terminal, from the packed package in an empty project, and compares the page with the screen.
//
// `UPDATE=1 node --test tests/docs/first-day.mjs` writes the screens into the page.
import assert from 'node:assert/strict'
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { account, environment, npmDir, python, root, run } from '../support.mjs'

const FILE = join(root, 'docs', 'first-day.md')
const COLUMNS = 240
const FENCE = /^```console\n(.*?)^```$/gms

/** What the person types where a command asks: the end of the prompt, and the answer. */
const ANSWERS = {
  'npx warpline init': [
    ['metrics_path (string, optional)', null],
    ['> ', ''],
    ['[90]> ', ''],
  ],
}

/** Names, instants, spans and readings that differ from day to day, each put as the page has them. */
function settler(project) {
  const runs = new Map()
  const run = (id) => {
    const minute = String(runs.size + 1).padStart(2, '0')
    if (!runs.has(id)) runs.set(id, `2026-12-01T09${minute}00000Z-5eb1c0de`)
    return runs.get(id)
  }
  return (screen) =>
    screen
      .replaceAll(project, '/srv/monitor')
      .replace(/\d{4}-\d\d-\d\dT\d{9}Z-[0-9a-f]{8}/g, run)
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '2026-12-01T09:00:00.000Z')
      .replace(/\d{4}-\d\d-\d\d \d\d:\d\d \+00:00/g, '2026-12-01 09:00 +00:00')
      .replace(/\b[\d.]+ m?s\b/g, '3 ms')
      .replace(
        /load [\d.]+, memory [\d.]+ %, disk [\d.]+ %/,
        'load 0.4, memory 31.5 %, disk 70.2 %',
      )
      .replace(/\b\d+m ago\b/g, 'just now')
      .replace(/\b(\d+)h [45]\dm\b/g, (_, hours) => `${Number(hours) + 1}h`)
      .replace(/, in \d+m$/m, ', in 15m')
}

async function install(project) {
  const library = join(npmDir, 'native', 'warpline.node')
  const pack = [join(npmDir, 'scripts', 'pack.js'), '--library', library, '--out', project]
  const packed = run(process.execPath, pack)
  assert.equal(packed.status, 0, account(packed))
  await writeFile(join(project, 'package.json'), '{ "private": true }')
  const args = [
    'install',
    '--offline',
    '--no-audit',
    '--no-fund',
    ...packed.stdout.trim().split('\n'),
  ]
  const installed = run('npm', args, { cwd: project })
  assert.equal(installed.status, 0, account(installed))
}

test('the first day on a terminal goes as the page tells it', async (t) => {
  const project = await realpath(await mkdtemp(join(tmpdir(), 'warpline-day-')))
  t.after(() => rm(project, { recursive: true, force: true }))
  await install(project)
  const page = await readFile(FILE, 'utf8')
  const fences = [...page.matchAll(FENCE)].map(([, text]) => text)
  const commands = fences.map((fence) =>
    fence.split('\n').flatMap((line) => (line.startsWith('$ ') ? [line.slice(2)] : [])),
  )
  const steps = commands.flat().map((command) => ({ command, answers: ANSWERS[command] ?? [] }))
  const { WARPLINE_HOME, NO_COLOR, CI, ...env } = environment('')
  const given = {
    cwd: project,
    columns: COLUMNS,
    steps,
    env: {
      ...env,
      HOME: project,
      TERM: 'xterm-256color',
      TZ: 'UTC',
      npm_config_update_notifier: 'false',
      PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
    },
  }
  const played = run(python, [join(root, 'tests', 'docs', 'terminal.py')], {
    input: JSON.stringify(given),
    timeout: 900_000,
  })
  assert.equal(played.status, 0, account(played))
  const screens = JSON.parse(played.stdout).values()
  const settle = settler(project)
  const shown = commands.map((list) =>
    list.map((command) => {
      const { screen, status } = screens.next().value
      const end = status === 0 ? '' : `[exit ${status}]\n`
      return `$ ${command}\n${screen === '' ? '' : `${settle(screen)}\n`}${end}`
    }),
  )
  const texts = shown.map((list) => list.join('\n'))
  if (process.env.UPDATE) {
    const next = texts.values()
    await writeFile(
      FILE,
      page.replace(FENCE, () => `\`\`\`console\n${next.next().value}\`\`\``),
    )
  } else {
    assert.deepEqual(fences, texts)
  }
})
