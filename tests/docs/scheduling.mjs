// Runs the recipes of docs/scheduling.md as a timer would: their own command lines, an environment with nothing else in it, no terminal.
import assert from 'node:assert/strict'
import {
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { account, hosts, npmDir, python, root, run } from '../support.mjs'

const page = await readFile(join(root, 'docs', 'scheduling.md'), 'utf8')

/** The file that a fence of the page shows, with this project's place and this Node.js for those of the page. */
function recipe(path, project) {
  const [, text] = new RegExp(`^\`\`\`\\w+ file=${path}\\n(.*?)^\`\`\`$`, 'ms').exec(page) ?? []
  assert.ok(text, `${path} is not in the page`)
  return text
    .replaceAll('/usr/local/bin/node', process.execPath)
    .replaceAll('PATH=/usr/local/bin:', `PATH=${join(process.execPath, '..')}:`)
    .replaceAll('/srv/monitor', project)
}

/** A project as the page assumes it: the package, a home with one plugin that needs a secret, no grant. */
async function project(t) {
  const directory = await mkdtemp(join(tmpdir(), 'warpline-timer-'))
  t.after(() => rm(directory, { recursive: true, force: true }))
  await mkdir(join(directory, 'node_modules'))
  await symlink(npmDir, join(directory, 'node_modules', 'warpline'))
  const plugin = join(directory, '.warpline', 'plugins', 'teller')
  await mkdir(plugin, { recursive: true })
  await writeFile(
    join(plugin, 'manifest.ts'),
    `export const manifest = { name: 'teller', version: '1.0.0', description: '', autonomy_level: 'autonomous', ttl_hours: 0.000001, secrets: ['API_TOKEN'] }\n`,
  )
  await writeFile(
    join(plugin, 'handler.ts'),
    `import { writeFileSync } from 'node:fs'
import { skillOk } from 'warpline/unstable-result'
export const handler = async () => {
  const { WARPLINE_HOME, TZ, API_TOKEN } = process.env
  writeFileSync(\`\${WARPLINE_HOME}/seen.json\`, JSON.stringify({ cwd: process.cwd(), TZ, secret: Boolean(API_TOKEN), terminal: Boolean(process.stdin.isTTY) }))
  return skillOk('told')
}
`,
  )
  await writeFile(join(directory, 'secrets.env'), 'API_TOKEN=opensesame\n', { mode: 0o600 })
  await writeFile(join(directory, 'secrets.sh'), 'export API_TOKEN=opensesame\n', { mode: 0o600 })
  return directory
}

/** What the plugin of the project saw when it last ran. */
const seen = async (directory) =>
  JSON.parse(await readFile(join(directory, '.warpline', 'seen.json'), 'utf8'))

/** A command with these variables and no others, no terminal, and no standard input. */
function alone(command, args, env, cwd = '/') {
  return run('setsid', ['--wait', command, ...args], { cwd, env, input: '' })
}

/** The values of a key of a unit file, in order. */
const unit = (text, key) =>
  [...text.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value]) => value)

test('the systemd units verify, and the service does its work with what they give it', async (t) => {
  const directory = await project(t)
  const service = recipe('deploy/warpline.service', directory)
  await mkdir(join(directory, 'deploy'))
  await writeFile(join(directory, 'deploy', 'warpline.service'), service)
  const timer = recipe('deploy/warpline.timer', directory)
  await writeFile(join(directory, 'deploy', 'warpline.timer'), timer)
  assert.deepEqual(unit(timer, 'OnCalendar'), ['*:0/15'])

  if (run('sh', ['-c', 'command -v systemd-analyze']).status === 0) {
    const units = ['warpline.service', 'warpline.timer'].map((name) => `./${name}`)
    const cwd = join(directory, 'deploy')
    const verified = run('systemd-analyze', ['verify', '--man=no', ...units], { cwd })
    assert.equal(verified.status, 0, account(verified))
    // It ends with 0 for keys it does not know, too, and says so.
    assert.doesNotMatch(verified.stderr, /warpline\.(service|timer)/, account(verified))
  } else {
    t.diagnostic('systemd-analyze is not on this machine: the units are run, not verified')
  }

  const variables = unit(service, 'Environment').flatMap((line) => line.split(' '))
  const [file] = unit(service, 'EnvironmentFile').map((path) => path.replace(/^-/, ''))
  const lines = (await readFile(file, 'utf8')).trim().split('\n')
  const env = Object.fromEntries([...variables, ...lines].map((line) => line.split('=')))
  const [command, ...args] = unit(service, 'ExecStart')[0].split(' ')
  const ended = alone(command, args, env, unit(service, 'WorkingDirectory')[0])
  assert.equal(ended.status, 0, account(ended))
  assert.deepEqual(await seen(directory), {
    cwd: directory,
    TZ: 'Europe/Berlin',
    secret: true,
    terminal: false,
  })
})

test('each line of the crontab works from the environment that cron gives', async (t) => {
  const directory = await project(t)
  const lines = recipe('deploy/crontab', directory).trim().split('\n')
  const given = Object.fromEntries(
    lines.filter((line) => /^[A-Z]+.*?=/.test(line)).map((line) => line.split('=')),
  )
  const jobs = lines.filter((line) => /^[*\d]/.test(line))
  assert.equal(jobs.length, 2)
  for (const job of jobs) {
    await rm(join(directory, '.warpline', 'seen.json'), { force: true })
    const [, , , , , ...words] = job.split(' ')
    const env = { HOME: directory, LOGNAME: 'nobody', ...given }
    const ended = alone(given.SHELL, ['-c', words.join(' ')], env)
    assert.equal(ended.status, 0, account(ended))
    assert.equal((await seen(directory)).secret, true)
  }
  const report = JSON.parse(await readFile(join(directory, 'advance.log'), 'utf8'))
  assert.equal(report.exit_code, 0)
})

test('the agent of launchd is a property list whose program does its work', async (t) => {
  const directory = await project(t)
  const path = join(directory, 'agent.plist')
  await writeFile(path, recipe('deploy/warpline.monitor.plist', directory))
  const read =
    'import json, plistlib, sys; print(json.dumps(plistlib.load(open(sys.argv[1], "rb"))))'
  const agent = JSON.parse(run(python, ['-c', read, path]).stdout)
  const [command, ...args] = agent.ProgramArguments
  const env = { ...agent.EnvironmentVariables, API_TOKEN: 'opensesame' }
  const ended = alone(command, args, env, agent.WorkingDirectory)
  assert.equal(ended.status, 0, account(ended))
})

test('the entry point of the container runs on a home that the container prepared', async (t) => {
  const directory = await project(t)
  const text = recipe('deploy/Dockerfile', directory)
  const words = (key) => JSON.parse(new RegExp(`^${key} (\\[.*\\])$`, 'm').exec(text)[1])
  const data = join(directory, 'data')
  const env = { PATH: join(process.execPath, '..'), WARPLINE_HOME: join(data, '.warpline') }
  const [command, ...args] = words('ENTRYPOINT')
  const prepared = alone(command, [...args, 'init'], env, directory)
  assert.equal(prepared.status, 0, account(prepared))
  const planned = alone(command, [...args, 'plan'], env, directory)
  assert.equal(planned.status, 0, account(planned))
  const ended = alone(command, [...args, ...words('CMD')], env, directory)
  assert.notEqual(ended.status, 75, account(ended))
  await assert.doesNotReject(stat(join(data, '.warpline', 'state', 'engine-state.json')))
})

test('Python takes the place of node in a recipe', async (t) => {
  const directory = await project(t)
  const home = join(directory, 'python-home')
  await cp(hosts.python.plugins, join(home, 'plugins'), { recursive: true })
  const env = { ...hosts.python.extra, WARPLINE_HOME: home }
  const ended = alone(python, ['-m', 'warpline', 'advance', '--strict', '--json'], env)
  assert.equal(typeof JSON.parse(ended.stdout).exit_code, 'number', account(ended))
})

test('the check of the dead-man file tells a fresh advance from an old one and from none', async (t) => {
  const directory = await project(t)
  const script = join(directory, 'alive.sh')
  await writeFile(script, recipe('deploy/alive.sh', directory))
  await chmod(script, 0o755)
  const env = {
    PATH: '/usr/bin:/bin',
    WARPLINE_HOME: join(directory, '.warpline'),
    API_TOKEN: 'opensesame',
  }
  const alive = () => alone('/bin/sh', [script], env).status
  assert.equal(alive(), 1)
  const advanced = alone(process.execPath, [join(npmDir, 'bin', 'warpline.cjs'), 'advance'], env)
  assert.equal(advanced.status, 0, account(advanced))
  assert.equal(alive(), 0)
  const old = new Date(Date.now() - 46 * 60_000)
  const sign = join(env.WARPLINE_HOME, 'state', 'last-successful-advance')
  const told = await readFile(sign, 'utf8')
  await utimes(sign, old, old)
  assert.equal(alive(), 1)
  await writeFile(sign, told)
  assert.equal(alive(), 0)
  await writeFile(sign, told.replace('"complete"', '"interrupted"'))
  assert.equal(alive(), 1)
})

test('the page names every file of the schedulers, and no other', async () => {
  const named = page.match(/(?:npm|python)\/examples\/schedulers\/[\w.-]+/g)
  const there = ['npm', 'python'].map(async (language) => {
    const folder = join(language, 'examples', 'schedulers')
    const files = await readdir(join(root, folder))
    return files.filter((file) => /\.(mjs|py)$/.test(file)).map((file) => join(folder, file))
  })
  assert.deepEqual([...new Set(named)].sort(), (await Promise.all(there)).flat().sort())
})
