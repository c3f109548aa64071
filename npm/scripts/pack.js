// Packs the artefacts that npm users install: `warpline`, and the package that holds its native engine for one target.
//
//   node scripts/pack.js --library FILE [--target TRIPLE] [--out DIRECTORY] [--all-targets]
//
// FILE is the library that Rust built for the target, which is this machine unless one is named. Both packages lie in
// DIRECTORY (../dist/npm) afterwards; for a target that this machine is not, its package alone, in DIRECTORY/cross.
// A library with its debug information is as good, for tests. Prints the paths of what it packed.
//
// `warpline` names the engine of this machine, which is all that lies beside it: an installer that reaches no registry
// would wait for the others. With --all-targets it names those of every target, which must then be published with it.

import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

import { libc, targetFor, targets } from '../lib/platform.js'

const npmDir = fileURLToPath(new URL('..', import.meta.url))

/** The licences of what is compiled into the engine. */
const THIRD_PARTY = 'THIRD-PARTY.md'

const manifest = JSON.parse(readFileSync(join(npmDir, 'package.json'), 'utf8'))
const { version, license, engines } = manifest

const {
  library,
  target: triple,
  out,
  'all-targets': all,
} = parseArgs({
  options: {
    library: { type: 'string' },
    target: { type: 'string' },
    out: { type: 'string', default: join(npmDir, '../dist/npm') },
    'all-targets': { type: 'boolean', default: false },
  },
}).values
if (!library) throw new Error('--library names the library that Rust built')

const host = targetFor(libc())
const target = triple ? targets.find((known) => known.triple === triple) : host
if (!target) throw new Error(`${triple ?? 'this machine'} is no target of npm/lib/targets.json`)

const stage = mkdtempSync(join(tmpdir(), 'warpline-pack-'))
try {
  const platform = stagePlatform(target, library)
  const packed = [pack(platform, target === host ? out : join(out, 'cross'))]
  if (target === host) packed.unshift(pack(stageMain(), out))
  console.log(packed.join('\n'))
} finally {
  rmSync(stage, { recursive: true, force: true })
}

/** Lays out `warpline` as it is published: without the native engine, which comes with optional dependencies. */
function stageMain() {
  const directory = join(stage, 'warpline')
  mkdirSync(directory)
  for (const name of ['LICENSE', 'README.md', ...manifest.files]) {
    cpSync(join(npmDir, name), join(directory, name), { recursive: true })
  }
  const { scripts, devDependencies, ...kept } = manifest
  const named = targets.filter((each) => all || each === host)
  const optionalDependencies = Object.fromEntries(named.map((each) => [each.package, version]))
  writeJson(directory, { ...kept, optionalDependencies })
  return directory
}

/**
 * Lays out the package of one target.
 *
 * @param {import('../lib/platform.js').Target} target
 * @param {string} library
 */
function stagePlatform(target, library) {
  const directory = join(stage, 'platform')
  const of = `${target.platform} on ${target.arch}${target.libc ? ` with ${target.libc}` : ''}`
  mkdirSync(directory)
  const engine = join(directory, 'warpline.node')
  cpSync(library, engine)
  if (target === host) requireVersion(engine)
  cpSync(join(npmDir, 'LICENSE'), join(directory, 'LICENSE'))
  cpSync(join(npmDir, '..', THIRD_PARTY), join(directory, THIRD_PARTY))
  writeFileSync(
    join(directory, 'README.md'),
    `# ${target.package}\n\nThe native engine of \`warpline\` for ${of}. Installing \`warpline\` brings it along; nothing else uses it.\n`,
  )
  writeJson(directory, {
    name: target.package,
    version,
    description: `The native engine of warpline for ${of}`,
    license,
    os: [target.platform],
    cpu: [target.arch],
    ...(target.libc ? { libc: [target.libc] } : {}),
    engines,
    type: 'commonjs',
    main: 'warpline.node',
    files: ['warpline.node', THIRD_PARTY],
    // A library cannot be opened inside of an archive.
    preferUnplugged: true,
  })
  return directory
}

/**
 * Refuses an engine that was built before the version was stated anew; only this machine's own can be asked.
 *
 * @param {string} engine
 */
function requireVersion(engine) {
  const found = createRequire(import.meta.url)(engine).version()
  if (found !== version)
    throw new Error(`the engine is version ${found}, and warpline is ${version}`)
}

/**
 * @param {string} directory
 * @param {object} content
 */
function writeJson(directory, content) {
  writeFileSync(join(directory, 'package.json'), `${JSON.stringify(content, null, 2)}\n`)
}

/**
 * @param {string} directory
 * @param {string} destination
 * @returns {string} the path of the tarball
 */
function pack(directory, destination) {
  mkdirSync(destination, { recursive: true })
  const args = ['pack', '--json', '--pack-destination', resolve(destination)]
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd: directory, encoding: 'utf8' })
  if (status !== 0) throw new Error(`npm pack failed: ${stderr}`)
  const [{ filename }] = JSON.parse(stdout)
  return join(resolve(destination), filename)
}
