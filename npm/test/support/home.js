// A home with plugins, for tests of whole operations.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { temporaryDirectory, writeFiles } from './plugins.js'

/**
 * Writes plugins into a home.
 *
 * @param {string} home
 * @param {Record<string, { manifest?: object, handler?: string, files?: Record<string, string> }>} plugins
 */
export function writePlugins(home, plugins) {
  for (const [name, { manifest = {}, handler, files = {} }] of Object.entries(plugins)) {
    const whole = {
      name,
      version: '1.0.0',
      description: 'd',
      autonomy_level: 'autonomous',
      ttl_hours: 1,
      ...manifest,
    }
    writeFiles(join(home, 'plugins', name), {
      'manifest.ts': `import { PluginManifestSchema } from 'warpline/schemas/plugin-manifest'
export const manifest = PluginManifestSchema.parse(${JSON.stringify(whole)})
`,
      'handler.ts': `import type { CapabilityHandlerFn } from 'warpline/unstable-capabilities'
import { skillFailure, skillOk } from 'warpline/unstable-result'
export const handler: CapabilityHandlerFn = async (manifest, args, signal, capabilities) => {
  ${handler ?? "return skillOk('fine')"}
}
`,
      ...files,
    })
  }
}

/**
 * A new home that `WARPLINE_HOME` leads to, holding these plugins.
 *
 * @param {Parameters<typeof writePlugins>[1]} plugins
 */
export function makeHome(plugins) {
  const home = join(temporaryDirectory(), '.warpline')
  writePlugins(home, plugins)
  process.env.WARPLINE_HOME = home
  return {
    home,
    /** @param {string} path */
    json: (path) => JSON.parse(readFileSync(join(home, path), 'utf8')),
    /** @param {string} path */
    text: (path) => readFileSync(join(home, path), 'utf8'),
    /** @param {string} path */
    list: (path) => (existsSync(join(home, path)) ? readdirSync(join(home, path)).sort() : []),
  }
}
