// Publishing the npm packages, with the real npm and a registry on this machine: the order, what is refused, and going on.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { root } from '../../support.mjs'
import { folder } from './support.mjs'

const ENGINE = '@warpline/linux-x64-gnu'
const OTHER = '@warpline/linux-arm64-gnu'

let server
let npmrc
/** What was published, in order: `{name, version, tag, integrity}`. */
let published
/** A package that the registry does not take. */
let unwanted

before(async () => {
  server = createServer((request, response) => {
    const name = decodeURIComponent(request.url.slice(1).split('?')[0])
    const answer = (status, body) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(body))
    }
    if (request.method === 'GET') {
      const versions = published.filter((each) => each.name === name)
      if (versions.length === 0) return answer(404, { error: 'not found' })
      const documents = versions.map(({ version, integrity }) => [
        version,
        { name, version, dist: { integrity, tarball: 'http://127.0.0.1/none' } },
      ])
      const tags = Object.fromEntries(versions.map(({ version, tag }) => [tag, version]))
      return answer(200, { name, versions: Object.fromEntries(documents), 'dist-tags': tags })
    }
    const parts = []
    request.on('data', (part) => parts.push(part))
    request.on('end', () => {
      if (name === unwanted) return answer(403, { error: 'not now' })
      const body = JSON.parse(Buffer.concat(parts).toString())
      const [[tag, version]] = Object.entries(body['dist-tags'])
      const [{ data }] = Object.values(body._attachments)
      const digest = createHash('sha512').update(Buffer.from(data, 'base64')).digest('base64')
      published.push({ name, version, tag, integrity: `sha512-${digest}` })
      answer(201, { ok: true })
    })
  })
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address()
  npmrc = join(folder('npmrc'), 'npmrc')
  writeFileSync(npmrc, `registry=http://127.0.0.1:${port}/\n//127.0.0.1:${port}/:_authToken=none\n`)
})

after(() => server.close())

beforeEach(() => {
  published = []
  unwanted = undefined
})

/** Packs a package into a folder; the path of the tarball. */
function pack(directory, manifest) {
  const source = folder('source')
  writeFileSync(join(source, 'package.json'), JSON.stringify({ version: '1.2.3', ...manifest }))
  mkdirSync(directory, { recursive: true })
  const args = ['pack', '--silent', '--pack-destination', directory]
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd: source, encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  return join(directory, stdout.trim())
}

/** The three packages of a release in a folder, the way `make package` and `make cross` lay them. */
function packages({ version = '1.2.3', engines = [ENGINE, OTHER] } = {}) {
  const directory = folder('packages')
  pack(directory, { name: ENGINE, version })
  pack(join(directory, 'cross'), { name: OTHER, version })
  const optionalDependencies = Object.fromEntries(engines.map((name) => [name, version]))
  pack(directory, { name: 'warpline', version, optionalDependencies })
  return directory
}

/** Publishes a folder: `{status, stdout, stderr}`. The registry answers meanwhile, so nothing may block this process. */
async function publish(directory) {
  const script = join(root, 'scripts/release/publish.mjs')
  const env = { ...process.env, npm_config_userconfig: npmrc, npm_config_fetch_retries: '0' }
  delete env.npm_config_registry
  const child = spawn(process.execPath, [script, directory], { env })
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr']) child[name].on('data', (part) => (said[name] += part))
  const status = await new Promise((ended) => child.on('close', ended))
  return { status, ...said }
}

const names = () => published.map(({ name }) => name)

test('the packages of the engines are published before the one that names them', async () => {
  const done = await publish(packages())
  assert.equal(done.status, 0, done.stderr)
  assert.deepEqual(names().slice(0, 2).sort(), [OTHER, ENGINE].sort())
  assert.equal(names()[2], 'warpline')
  assert.deepEqual([...new Set(published.map(({ tag }) => tag))], ['latest'])
})

test('a candidate is nobody’s newest version', async () => {
  const done = await publish(packages({ version: '1.2.3-rc.1' }))
  assert.equal(done.status, 0, done.stderr)
  assert.deepEqual([...new Set(published.map(({ tag }) => tag))], ['next'])
})

test('what broke off is taken up again, and what is there is left alone', async () => {
  const directory = packages()
  unwanted = 'warpline'
  const broken = await publish(directory)
  assert.equal(broken.status, 1)
  assert.match(broken.stderr, /warpline@1\.2\.3 was not published/)
  assert.equal(published.length, 2)
  unwanted = undefined
  const again = await publish(directory)
  assert.equal(again.status, 0, again.stderr)
  assert.match(again.stdout, /linux-x64-gnu@1\.2\.3: there already/)
  assert.equal(published.length, 3)
})

test('a version that is published with other content is refused', async () => {
  const directory = packages()
  published.push({ name: ENGINE, version: '1.2.3', tag: 'latest', integrity: 'sha512-other' })
  const refused = await publish(directory)
  assert.equal(refused.status, 1)
  assert.match(refused.stderr, /is published already, and is another file/)
  assert.ok(!names().includes('warpline'))
})

test('nothing is published of packages that do not belong together', async () => {
  const cases = [
    [
      /names @warpline\/linux-arm64-gnu, which is not there/,
      (at) => rmSync(join(at, 'cross'), { recursive: true }),
    ],
    [/is not there exactly once/, (at) => cpSync(tarball(at), join(at, 'cross', 'again.tgz'))],
    [/is of version 1\.2\.4/, (at) => pack(join(at, 'old'), { name: OTHER, version: '1.2.4' })],
    [/does not name stray/, (at) => pack(at, { name: 'stray' })],
    [
      /must hold one package that names the others, and holds 0/,
      (at) => rmSync(join(at, 'warpline-1.2.3.tgz')),
    ],
  ]
  for (const [reason, spoil] of cases) {
    const directory = packages()
    spoil(directory)
    const refused = await publish(directory)
    assert.equal(refused.status, 1, String(reason))
    assert.match(refused.stderr, reason)
  }
  assert.match((await publish(folder('empty'))).stderr, /holds no packages/)
  assert.deepEqual(published, [])
})

/** The tarball of the engine of this machine. */
function tarball(directory) {
  const name = readdirSync(directory).find((each) => each.includes('linux-x64-gnu'))
  assert.ok(readFileSync(join(directory, name)).length > 0)
  return join(directory, name)
}
