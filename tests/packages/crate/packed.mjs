// The packed crate as somebody gets it: unpacked in an empty directory, with no index to be asked, and used by a program.
import assert from 'node:assert/strict'
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, test } from 'node:test'
import { account, environment, root, run } from '../../support.mjs'
import { expectedFiles } from './support.mjs'

const dist = join(resolve(root, process.env.WARPLINE_DIST || 'dist'), 'crate')
let directory
let crate
let version

/** A command with no network where this machine lets us, else with nothing but a proxy that is none. */
function sealed(command, args, cwd, env = process.env) {
  const nowhere = 'http://127.0.0.1:9'
  const apart = [['--net'], ['--map-root-user', '--net']].find(
    (options) => run('sh', ['-c', `unshare ${options.join(' ')} true`]).status === 0,
  )
  const words = apart ? ['unshare', ...apart, command, ...args] : [command, ...args]
  return run(words[0], words.slice(1), {
    cwd,
    env: {
      ...env,
      CARGO_NET_OFFLINE: 'true',
      http_proxy: nowhere,
      https_proxy: nowhere,
      // What the crate is made of is compiled already.
      CARGO_TARGET_DIR: join(root, 'target'),
    },
    timeout: 900_000,
  })
}

function cargo(args, cwd, env = {}) {
  const ended = sealed('cargo', args, cwd, { ...process.env, ...env })
  assert.equal(ended.status, 0, account(ended))
  return ended.stdout + ended.stderr
}

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'warpline-crate-'))
  const packed = (await readdir(dist)).filter((name) => name.endsWith('.crate'))
  assert.equal(packed.length, 1, `\`make package\` leaves one crate in ${dist}`)
  version = /^warpline-core-(.+)\.crate$/.exec(packed[0])[1]
  const unpacked = run('tar', ['xzf', join(dist, packed[0]), '-C', directory])
  assert.equal(unpacked.status, 0, account(unpacked))
  crate = join(directory, `warpline-core-${version}`)
})

after(() => rm(directory, { recursive: true, force: true }))

test('the packed crate holds the engine and nothing else', async () => {
  const entries = await readdir(crate, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => !entry.isDirectory())
  assert.ok(files.every((entry) => entry.isFile()))
  const names = files.map((entry) => join(entry.parentPath ?? entry.path, entry.name))
  assert.deepEqual(names.map((name) => name.slice(crate.length + 1)).sort(), expectedFiles())
  const written = await readFile(join(root, 'Cargo.toml'), 'utf8')
  assert.ok(written.includes(`version = "${version}"`))
})

test('each packed file is that of the checkout', async () => {
  for (const name of expectedFiles()) {
    if (/^(Cargo\.|\.cargo_vcs_info)/.test(name)) continue
    const [packed, own] = [join(crate, name), join(root, 'core', name)]
    assert.deepEqual(await readFile(packed), await readFile(own), name)
  }
})

test('nothing in it leads out of it', async () => {
  for (const name of expectedFiles().filter((name) => name.endsWith('.rs'))) {
    const source = await readFile(join(crate, name), 'utf8')
    for (const [, path] of source.matchAll(/include_(?:str|bytes)!\("([^"]+)"\)/g)) {
      const target = join(crate, name, '..', path)
      assert.ok(target.startsWith(`${crate}/`), `${name} includes ${path}`)
      await readFile(target)
    }
  }
  const manifest = await readFile(join(crate, 'Cargo.toml'), 'utf8')
  assert.doesNotMatch(manifest, /^path = "\.\.|workspace = true/m)
})

for (const features of [['--no-default-features'], [], ['--all-features']]) {
  test(`it compiles by itself with ${features[0] ?? 'its default features'}`, () => {
    cargo(['check', '--locked', ...features], crate)
  })
}

test('its own tests and the programs of its pages pass', () => {
  const said = cargo(['test', '--locked', '--lib'], crate)
  assert.match(said, /^test result: ok\. \d{3,} passed; 0 failed/m)
  const shown = cargo(['test', '--locked', '--doc'], crate)
  const [, passed] = /^test result: ok\. (\d+) passed; 0 failed/m.exec(shown)
  assert.ok(Number(passed) >= 10, shown)
})

test('its pages come out without a warning', () => {
  cargo(['doc', '--locked', '--no-deps', '--all-features'], crate, { RUSTDOCFLAGS: '-D warnings' })
})

test('a program that asks for it hosts plugins', async () => {
  const project = join(directory, 'my-host')
  await mkdir(join(project, 'src'), { recursive: true })
  await cp(join(crate, 'examples', 'host.rs'), join(project, 'src', 'main.rs'))
  const page = await readFile(join(root, 'docs', 'hosting-rust.md'), 'utf8')
  const [, manifest] = /^```toml file=\S+\n(.*?)^```$/ms.exec(page)
  const here = manifest.replace('/path/to/warpline/core', crate)
  assert.notEqual(here, manifest)
  await writeFile(join(project, 'Cargo.toml'), here)
  await cp(join(crate, 'Cargo.lock'), join(project, 'Cargo.lock'))
  const plugin = join(project, '.warpline', 'plugins', 'hello')
  await mkdir(plugin, { recursive: true })
  const fields = "name: 'hello', version: '1.0.0', description: 'd', autonomy_level: 'autonomous'"
  await writeFile(
    join(plugin, 'manifest.ts'),
    `export const manifest = { ${fields}, ttl_hours: 1 }\n`,
  )
  const result =
    '{"status":"success","phases_completed":[],"phases_failed":[],"data_freshness":{},"summary":"hi"}'
  await writeFile(join(plugin, 'handler'), `#!/bin/sh\ncat > /dev/null\necho '${result}'\n`)
  await chmod(join(plugin, 'handler'), 0o755)
  cargo(['build'], project)
  const program = join(root, 'target', 'debug', 'my-host')
  const env = environment(join(project, '.warpline'))
  const ended = sealed(program, [], project, env)
  assert.equal(ended.status, 0, account(ended))
  const { status, plugin_entries } = JSON.parse(ended.stdout)
  assert.deepEqual([status, plugin_entries[0].result_summary], ['complete', 'hi'])
})
