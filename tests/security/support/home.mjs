// What the security tests share: homes with surroundings, their snapshots, and the commands of both hosts.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { account, environment, hosts } from '../../support.mjs'

export { account }

/** Writes texts below a directory. */
export function write(directory, files) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), text)
  }
}

/** A directory with a home in it, and beside that home files that nobody may touch. */
export function place(test) {
  const root = mkdtempSync(join(tmpdir(), 'warpline-security-'))
  test.after(() => rmSync(root, { recursive: true, force: true }))
  const around = join(root, 'around')
  write(around, {
    'victim.json': '{"victim":true}',
    'victim.log': 'victim\n',
    'plugins/victim/manifest.ts': 'throw new Error("executed")',
    'runs/victim.json': '{"run_id":"victim"}',
    'runs/victim.log': 'victim\n',
  })
  const home = join(root, 'around', 'home')
  mkdirSync(home, { mode: 0o700 })
  return { root, around, home }
}

/** Every name below a directory with its mode and bytes, one directory left out. */
export function snapshot(directory, without) {
  const found = {}
  const walk = (path) => {
    if (path === without) return
    const facts = lstatSync(path)
    const mode = (facts.mode & 0o7777).toString(8)
    if (facts.isDirectory()) {
      found[path] = mode
      for (const name of readdirSync(path).sort()) walk(join(path, name))
    } else if (facts.isSymbolicLink()) found[path] = `-> ${readlinkSync(path)}`
    else found[path] = `${mode} ${readFileSync(path, 'latin1')}`
  }
  walk(directory)
  return found
}

const BASE = { version: '1', description: 'd', autonomy_level: 'autonomous', ttl_hours: 1 }

/** Adds a plugin in the language of a host; `body` is the handler's, indented as the language wants it. */
export function plugin(host, home, name, body, manifest = {}) {
  const whole = { name: 'p', ...BASE, ...manifest }
  if (host === 'node') {
    write(join(home, 'plugins', name), {
      'manifest.ts': `export const manifest = ${JSON.stringify(whole)}\n`,
      'handler.ts': `export const handler = async (manifest, args, signal, capabilities) => {\n${body}\n}\n`,
    })
  } else {
    write(join(home, 'plugins', name), {
      'manifest.py': `import json\nmanifest = json.loads(${JSON.stringify(JSON.stringify(whole))})\n`,
      'handler.py': `import json, os, sys\ndef handler(manifest, args, signal, capabilities):\n${body.replace(/^/gm, '    ')}\n`,
    })
  }
}

const OK = {
  status: 'success',
  phases_completed: [],
  phases_failed: [],
  data_freshness: {},
  summary: 'fine',
}

/** Code that returns a result with these fields. */
export function returns(host, fields = {}) {
  const text = JSON.stringify({ ...OK, ...fields })
  return host === 'node' ? `return ${text}` : `return json.loads(${JSON.stringify(text)})`
}

/** Runs a command of a host to its end: {status, stdout, stderr}. */
export function warpline(host, home, args, extra = {}, { umask, input } = {}) {
  const { command, args: first, extra: own } = hosts[host]
  const env = environment(home, { ...own, ...extra })
  const words =
    umask === undefined ? [command] : ['sh', '-c', `umask ${umask}; exec "$@"`, 'sh', command]
  return new Promise((resolve, reject) => {
    const child = spawn(words[0], [...words.slice(1), ...first, ...args], {
      env,
      cwd: dirname(home),
    })
    let [stdout, stderr] = ['', '']
    child.stdout.on('data', (bytes) => {
      stdout += bytes.toString('latin1')
    })
    child.stderr.on('data', (bytes) => {
      stderr += bytes.toString('latin1')
    })
    child.stdin.end(input)
    const limit = setTimeout(() => child.kill('SIGKILL'), 300_000)
    child.on('error', reject)
    child.on('close', (status, signal) => {
      clearTimeout(limit)
      assert.equal(signal, null, `${args.join(' ')} ends by itself`)
      const text = (latin) => Buffer.from(latin, 'latin1').toString('utf8')
      resolve({ status, signal, stdout: text(stdout), stderr: text(stderr) })
    })
  })
}

/** Every command that reports, with arguments that reach its whole report. */
export const READING = [
  ['plan'],
  ['plan', '--json'],
  ['status'],
  ['status', '--json'],
  ['board'],
  ['board', '--all'],
  ['board', '--json'],
  ['tasks'],
  ['tasks', '--json'],
  ['handoffs'],
  ['handoffs', '--json'],
  ['log'],
  ['log', '--json'],
  ['deny', '--list'],
  ['deny', '--list', '--json'],
  ['check'],
  ['check', '--json'],
]
