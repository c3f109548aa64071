// A program that imports, as its compiler sees the package.

import { type AdvanceResult, runAdvance, type WarplineError } from 'warpline'
import { warplineHome } from 'warpline/lib/paths'
import type { BoardEvent } from 'warpline/schemas/board-event'
import type { EngineState } from 'warpline/schemas/engine-state'
import { PLUGIN_CONFIG_PRECEDENCE } from 'warpline/schemas/plugin-config'
import { type PluginManifest, PluginManifestSchema } from 'warpline/schemas/plugin-manifest'
import { RunLogSchema } from 'warpline/schemas/run-log'
import { OUTPUT_BODY_CAP_BYTES, type SkillResult } from 'warpline/schemas/skill-result'
import type { CapabilityHandlerFn } from 'warpline/unstable-capabilities'
import { readJsonOrNull } from 'warpline/unstable-fs'
import { skillOk } from 'warpline/unstable-result'
import { invokePlugin } from 'warpline/unstable-runtime'
import { openTestHome, type TestRun } from 'warpline/unstable-testing'

export const advanced: Promise<AdvanceResult> = runAdvance({ dryRun: true })
export const manifest: PluginManifest = PluginManifestSchema.parse({
  name: 'x',
  version: '1',
  description: '',
  autonomy_level: 'autonomous',
  ttl_hours: 1,
})
export const handler: CapabilityHandlerFn = async (given) => skillOk(given.name)
export const invoked: Promise<SkillResult> = invokePlugin(
  'x',
  {},
  {},
  {
    granted: false,
    reason: 'manual-run',
  },
).then(({ result }) => result)
export const tested: Promise<TestRun> = openTestHome({ pluginsDir: 'plugins' }).then((home) =>
  home.run('x', { now: '2026-03-01T08:00:00Z' }),
)
export const others = [warplineHome(), OUTPUT_BODY_CAP_BYTES, PLUGIN_CONFIG_PRECEDENCE]
export const log = RunLogSchema.safeParse(await readJsonOrNull('x'))
export type Documents = [BoardEvent, EngineState, WarplineError]
// @ts-expect-error: there is no default export
export { default } from 'warpline'
// @ts-expect-error: what is not published has no types
export type Hidden = import('warpline/lib/engine.js').Notice
