// What the tests of the npm artefacts share: which files they are, and how somebody installs them who reaches no registry.
import assert from 'node:assert/strict'
import { cp, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, delimiter, dirname, join, resolve } from 'node:path'
import { after } from 'node:test'
import platform from '../../../npm/lib/platform.js'
import { account, npmDir, root, run } from '../../support.mjs'

export const { targets } = platform
export const { name, version } = JSON.parse(await readFile(join(npmDir, 'package.json'), 'utf8'))

/** What the native engine of this machine was built for. */
export const target = platform.targetFor(platform.libc())

/** Where `make package` puts what it makes. */
export const dist = resolve(root, process.env.WARPLINE_DIST ?? 'dist')

/** The tarball of a package. */
export const tarball = (of) =>
  join(dist, 'npm', `${of.replace('@', '').replace('/', '-')}-${version}.tgz`)

export const artefacts = { main: tarball(name), platform: tarball(target.package) }

// A port that nothing listens on, and a cache that holds nothing.
const NO_REGISTRY = 'http://127.0.0.1:9/'
const SETTINGS_OF_CALLER = /^(?:npm_|bun_|no_proxy$|https?_proxy$|all_proxy$|warpline_|node_)/i

/**
 * The environment of somebody who reaches no registry, and has nothing of the caller's.
 *
 * @param {string} cache where installers keep what they fetched: a directory of this project
 * @param {string} [command] the runtime whose programs come first
 */
export function offline(cache, command = process.execPath) {
  const kept = Object.entries(process.env).filter(([key]) => !SETTINGS_OF_CALLER.test(key))
  return {
    ...Object.fromEntries(kept),
    PATH: [dirname(command), process.env.PATH].join(delimiter),
    NO_COLOR: '1',
    npm_config_registry: NO_REGISTRY,
    npm_config_cache: cache,
    npm_config_userconfig: join(cache, 'npmrc'),
    npm_config_fetch_retries: '0',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_update_notifier: 'false',
    BUN_CONFIG_REGISTRY: NO_REGISTRY,
    BUN_INSTALL_CACHE_DIR: cache,
    DENO_DIR: cache,
  }
}

/** A new directory, canonical, that is removed after the test that asks for it, or else after those of the file. */
export async function cleanDirectory() {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'warpline-npm-')))
  after(() => rm(directory, { recursive: true, force: true }))
  return directory
}

/**
 * Installs artefacts into a directory that holds nothing else.
 *
 * @param {{ files?: string[], flags?: string[], command?: string }} [how] `flags` are those of npm, `command` the
 *   Node.js that runs it
 * @returns {Promise<string>} the directory
 */
export async function install({ files = Object.values(artefacts), flags = [], command } = {}) {
  const directory = await cleanDirectory()
  const given = await copyInto(directory, files)
  const ended = run('npm', ['install', ...flags, ...given], {
    cwd: directory,
    env: offline(join(directory, '.cache'), command),
  })
  assert.equal(ended.status, 0, account(ended))
  return directory
}

/** Copies artefacts, and gives the paths to install them by. */
export async function copyInto(directory, files) {
  for (const file of files) {
    await cp(file, join(directory, basename(file))).catch((error) => {
      throw new Error(`${file} is not there; \`make package\` makes it`, { cause: error })
    })
  }
  return files.map((file) => `./${basename(file)}`)
}

/** Runs a program of a project, as `command` with `args`. */
export async function runProgram(project, file, source, { command, args = [] }, extra = {}) {
  await writeFile(join(project, file), source)
  return run(command, [...args, file], {
    cwd: project,
    env: { ...offline(join(project, '.cache'), command), ...extra },
  })
}

/** The files of a tarball, by path in the package. */
export function filesOf(file) {
  const told = run('tar', ['-tzf', file])
  assert.equal(told.status, 0, account(told))
  return told.stdout
    .trim()
    .split('\n')
    .map((path) => path.replace(/^package\//, ''))
}

/** A file of a tarball, as text. */
export function readFrom(file, path) {
  const told = run('tar', ['-xOzf', file, `package/${path}`])
  assert.equal(told.status, 0, account(told))
  return told.stdout
}
