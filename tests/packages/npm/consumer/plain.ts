// A program of a project that has chosen nothing: CommonJS, and packages found as before `exports`.

import { type AdvanceResult, runAdvance } from 'warpline'
import { warplineHome } from 'warpline/lib/paths'
import { type PluginManifest, PluginManifestSchema } from 'warpline/schemas/plugin-manifest'
import type { CapabilityHandlerFn } from 'warpline/unstable-capabilities'
import { skillOk } from 'warpline/unstable-result'

export const advanced: Promise<AdvanceResult> = runAdvance({ dryRun: true })
export const home: string = warplineHome()
export const handler: CapabilityHandlerFn = async (given) => skillOk(given.name)
export const manifest: PluginManifest = PluginManifestSchema.parse({
  name: 'x',
  version: '1',
  description: '',
  autonomy_level: 'autonomous',
  ttl_hours: 1,
})
// @ts-expect-error: options are closed
export const misspelt = runAdvance({ dryrun: true })
