// Runs plugins for their tests: the real engine, in a home of its own, on facts that a test makes up.

'use strict'

const { mkdir, mkdtemp, readFile, realpath, rm, writeFile } = require('node:fs/promises')
const { tmpdir } = require('node:os')
const { dirname, isAbsolute, join, relative, resolve } = require('node:path')
const { fileURLToPath } = require('node:url')

const { runOperation } = require('./engine.js')
const { testHomes } = require('./environment.js')
const { standingAt } = require('./testing/clock.js')
const { withVariables } = require('./testing/environment.js')
const {
  checkNames,
  checkOptions,
  dependencyRuns,
  instantOf,
  quoted,
  secretVariables,
} = require('./testing/facts.js')

/**
 * @typedef {typeof import('./unstable-testing.js')} Published
 * @typedef {import('./unstable-testing.js').TestRunOptions} TestRunOptions
 * @typedef {import('./schemas/plugin-manifest.js').PluginManifest} PluginManifest
 */

/** @type {Published['openTestHome']} */
async function openTestHome(options) {
  checkNames(options ?? {}, ['pluginsDir'])
  const given = options?.pluginsDir
  if (!(given instanceof URL) && (typeof given !== 'string' || given === '')) {
    throw new TypeError('openTestHome takes `pluginsDir`, the folder of plugins: a path or a URL')
  }
  const pluginsDir = given instanceof URL ? fileURLToPath(given) : resolve(given)
  const home = await realpath(await mkdtemp(join(tmpdir(), 'warpline-test-')))
  return new TestHome(home, pluginsDir)
}

class TestHome {
  #pluginsDir
  #runs = 0
  #removed = false

  /**
   * @param {string} path
   * @param {string} pluginsDir
   */
  constructor(path, pluginsDir) {
    this.path = path
    this.#pluginsDir = pluginsDir
  }

  /**
   * @param {string} plugin
   * @param {TestRunOptions} [options]
   */
  async run(plugin, options = {}) {
    checkOptions(options)
    this.#checkThere()
    const instant = instantOf(options.now)
    const iso = new Date(instant).toISOString()
    const manifest = await this.#manifest(plugin)
    this.#runs += 1
    const runId = options.runId ?? `test-${this.#runs}`
    const request = JSON.stringify({
      plugin,
      args: options.args ?? {},
      options: {
        pluginsDir: this.#pluginsDir,
        persistArtifact: true,
        runId,
        maxRetriesOverride: options.retries,
        dependencyRuns: dependencyRuns(manifest, options.dependencies ?? {}, iso),
      },
      witness:
        options.granted === false
          ? { granted: false, reason: 'no-declared-side-effects' }
          : { granted: true, scope: plugin },
      now: options.now === undefined ? undefined : iso,
    })
    const invoke = () =>
      testHomes.run(this.path, () => runOperation('invoke', request, { signal: options.signal }))
    const onClock = () => (options.now === undefined ? invoke() : standingAt(instant, invoke))
    const variables = {
      WARPLINE_HOME: this.path,
      ...secretVariables(manifest, options.secrets ?? {}),
    }
    const outcome = await withVariables(variables, () =>
      this.#withConfig(plugin, options.config, onClock),
    )
    const artifact = await this.read(join('runs', `${runId}.json`))
    const transcript = await this.read(join('runs', `${runId}.log`))
    return {
      ...outcome,
      run_id: runId,
      transcript: transcript ?? '',
      artifact: artifact === null ? null : JSON.parse(artifact),
    }
  }

  /**
   * @param {string} path
   * @param {unknown} content
   */
  async write(path, content) {
    this.#checkThere()
    const file = this.#inside(path)
    const text = typeof content === 'string' ? content : JSON.stringify(content, null, 2)
    if (text === undefined) throw new TypeError('the content must be text or have a JSON form')
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
  }

  /** @param {string} path */
  async read(path) {
    return readOrNull(this.#inside(path))
  }

  async remove() {
    this.#removed = true
    await rm(this.path, { recursive: true, force: true })
  }

  /** A run would make it again, for nobody to delete. */
  #checkThere() {
    if (this.#removed) throw new Error('the test home has been removed')
  }

  /** @param {string} path */
  #inside(path) {
    const file = resolve(this.path, path)
    const below = relative(this.path, file)
    if (below === '' || isAbsolute(below) || below.split(/[/\\]/)[0] === '..') {
      throw new TypeError('a path of a test home must lie inside it')
    }
    return file
  }

  /**
   * @param {string} plugin
   * @returns {Promise<PluginManifest>}
   */
  async #manifest(plugin) {
    const request = JSON.stringify({ pluginsDir: this.#pluginsDir })
    const loaded = await runOperation('loadManifests', request)
    /** @type {Map<string, PluginManifest>} */
    const manifests = new Map(loaded.manifests)
    const manifest = manifests.get(plugin)
    if (manifest) return manifest
    if (loaded.root_error) {
      const { path, code } = loaded.root_error
      throw new Error(`the folder of plugins ${path} cannot be read (${code})`)
    }
    const failure = loaded.failures.find((/** @type {any} */ each) => each.plugin === plugin)
    if (failure) throw new Error(`plugin \`${plugin}\` does not load: ${failure.error}`)
    const names = quoted([...manifests.keys()]) || 'none'
    throw new Error(`there is no plugin \`${plugin}\` in ${this.#pluginsDir}; there is ${names}`)
  }

  /**
   * @template T
   * @param {string} plugin
   * @param {TestRunOptions['config']} config
   * @param {() => Promise<T>} code
   */
  async #withConfig(plugin, config, code) {
    if (config === undefined) return code()
    const file = join('config', `${plugin}.json`)
    const before = await this.read(file)
    await this.write(file, config)
    try {
      return await code()
    } finally {
      if (before === null) await rm(join(this.path, file), { force: true })
      else await this.write(file, before)
    }
  }
}

/**
 * @param {string} path
 * @returns {Promise<string | null>}
 */
async function readOrNull(path) {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return null
    throw error
  }
}

module.exports = { openTestHome }
