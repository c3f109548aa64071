// What `make cross` built: it fits its target, and runs there, in the Node.js and the Python that `make test-cross` fetched.
import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, test } from 'node:test'
import { agreed } from '../../scripts/release/places.mjs'
import { account, environment, npmDir, python, root, run } from '../support.mjs'

const dist = resolve(root, process.env.WARPLINE_DIST || 'dist')
const version = agreed(root)
const targets = JSON.parse(readFileSync(join(npmDir, 'lib/targets.json'), 'utf8'))
const asked = (process.env.WARPLINE_CROSS ?? '').split(' ').filter(Boolean)

/** QEMU translates every instruction. */
const PATIENCE = { timeout: 500_000 }
/** `e_machine` of an ELF file, and the newest glibc that may be asked for. */
const MACHINES = { x64: 62, arm64: 183 }
const NEWEST_GLIBC = 17

const directory = mkdtempSync(join(tmpdir(), 'warpline-cross-'))
after(() => rmSync(directory, { recursive: true, force: true }))

let main

before(() => {
  const packed = run('npm', ['pack', '--json', '--pack-destination', directory], { cwd: npmDir })
  assert.equal(packed.status, 0, account(packed))
  main = join(directory, JSON.parse(packed.stdout)[0].filename)
})

test('there is something to run', () => {
  assert.ok(asked.length > 0, 'WARPLINE_CROSS names the targets')
  for (const triple of asked)
    assert.ok(
      targets.some((each) => each.triple === triple),
      `${triple} is in npm/lib/targets.json`,
    )
})

/** Checks the file that a runtime opens: the machine it is for, and what it needs of the C library. */
function examine(path, { arch, libc }) {
  const bytes = readFileSync(path)
  assert.equal(bytes.readUInt16LE(18), MACHINES[arch], path)
  const wanted = [...bytes.toString('latin1').matchAll(/GLIBC_2\.(\d+)/g)].map(([, minor]) =>
    Number(minor),
  )
  if (libc === 'musl') assert.deepEqual(wanted, [], path)
  else assert.ok(wanted.length > 0 && Math.max(...wanted) <= NEWEST_GLIBC, `${path}: ${wanted}`)
}

/** Plays a first day with the command: a home, what its plugin does, and the plan after it. */
function play(command, args, cwd, extra = {}) {
  mkdirSync(cwd, { recursive: true })
  const home = join(cwd, '.warpline')
  const does = (...words) => {
    const done = run(command, [...args, ...words], {
      cwd,
      env: environment(home, extra),
      ...PATIENCE,
    })
    assert.equal(done.status, 0, account(done))
    return done.stdout
  }
  assert.match(does('--version'), new RegExp(version.replaceAll('.', '\\.')))
  does('init')
  const advanced = JSON.parse(does('advance', '--json'))
  assert.deepEqual(advanced.plugin_states, { 'metrics-rollup': 'completed' })
  assert.match(does('plan'), /within TTL/)
}

for (const target of targets.filter(({ triple }) => asked.includes(triple))) {
  const runtimes = join(root, 'target/cross/run', target.triple)

  test(`npm, ${target.triple}`, () => {
    const project = join(directory, target.triple)
    mkdirSync(project)
    const file = `${target.package.replace('@', '').replace('/', '-')}-${version}.tgz`
    const manifest = {
      private: true,
      type: 'module',
      dependencies: { warpline: main },
      optionalDependencies: { [target.package]: join(dist, 'npm/cross', file) },
    }
    writeFileSync(join(project, 'package.json'), JSON.stringify(manifest))
    // What does not fit is left out without a word.
    const machine = [`--os=${target.platform}`, `--cpu=${target.arch}`, `--libc=${target.libc}`]
    const args = ['install', '--offline', '--no-audit', '--no-fund', ...machine]
    const installed = run('npm', args, { cwd: project, timeout: 120_000 })
    assert.equal(installed.status, 0, account(installed))
    const engine = join(project, 'node_modules', target.package)
    examine(join(engine, 'warpline.node'), target)

    const node = join(runtimes, 'node')
    const ask = `import 'warpline'; import { createRequire } from 'node:module'; const engine = createRequire(import.meta.url)('${target.package}'); console.log(process.arch, typeof engine)`
    const loaded = run(node, ['--input-type=module', '--eval', ask], { cwd: project, ...PATIENCE })
    assert.equal(loaded.stdout.trim(), `${target.arch} object`, account(loaded))
    play(node, [join(project, 'node_modules/.bin/warpline')], join(project, 'home'))

    // The engine came out of that package and no other place.
    rmSync(engine, { recursive: true })
    const without = run(node, [join(project, 'node_modules/.bin/warpline'), 'plan'], {
      cwd: project,
      ...PATIENCE,
    })
    assert.notEqual(without.status, 0, account(without))
  })

  test(`Python, ${target.triple}`, (t) => {
    const wheels = readdirSync(join(dist, 'python/cross')).filter((name) => fits(name, target))
    assert.equal(wheels.length, 1, `${wheels}`)
    const packages = join(directory, `python-${target.triple}`)
    const unpacked = run(python, [
      '-m',
      'zipfile',
      '-e',
      join(dist, 'python/cross', wheels[0]),
      packages,
    ])
    assert.equal(unpacked.status, 0, account(unpacked))
    examine(join(packages, 'warpline/_native.abi3.so'), target)

    const interpreter = join(runtimes, 'python')
    if (!existsSync(interpreter)) {
      assert.equal(target.libc, 'musl')
      t.diagnostic(`built, not run: there is no Python for ${target.triple} here`)
      return
    }
    const extra = { PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: '1' }
    play(interpreter, ['-m', 'warpline'], join(directory, `home-${target.triple}`), extra)
  })
}

/** Whether a wheel is the one for a target. */
function fits(name, { arch, libc }) {
  const machine = { x64: 'x86_64', arm64: 'aarch64' }[arch]
  return (
    name.includes(libc === 'musl' ? 'musllinux_1_2_' : 'manylinux_2_17_') && name.includes(machine)
  )
}
