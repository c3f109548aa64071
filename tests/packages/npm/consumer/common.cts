// A program that requires, as its compiler sees the package.

import schemas = require('warpline/schemas/plugin-manifest')
import warpline = require('warpline')

import { warplineHome } from 'warpline/lib/paths'
import { BoardEventSchema } from 'warpline/schemas/board-event'
import { type EngineState, EngineStateSchema } from 'warpline/schemas/engine-state'
import { type PluginConfig, PluginConfigSchema } from 'warpline/schemas/plugin-config'
import { type RunLog, RunLogSchema } from 'warpline/schemas/run-log'
import type { SkillResult } from 'warpline/schemas/skill-result'
import type { CapabilityHandlerFn } from 'warpline/unstable-capabilities'
import { atomicWriteText } from 'warpline/unstable-fs'
import { skillOk } from 'warpline/unstable-result'
import { invokePlugin } from 'warpline/unstable-runtime'
import { openTestHome } from 'warpline/unstable-testing'

const advanced: Promise<warpline.AdvanceResult> = warpline.runAdvance({ dryRun: true })
const manifest: schemas.PluginManifest = schemas.PluginManifestSchema.parse({
  name: 'x',
  version: '1',
  description: '',
  autonomy_level: 'autonomous',
  ttl_hours: 1,
})
const invoked: Promise<SkillResult> = invokePlugin(
  'x',
  {},
  {},
  {
    granted: false,
    reason: 'manual-run',
  },
).then(({ result }) => result)
const handler: CapabilityHandlerFn = async ({ name }) => skillOk(name)
const parsed = (given: unknown): [EngineState, PluginConfig, RunLog, boolean] => [
  EngineStateSchema.parse(given),
  PluginConfigSchema.parse(given),
  RunLogSchema.parse(given),
  BoardEventSchema.safeParse(given).success,
]
const tested = openTestHome({ pluginsDir: 'plugins' }).then((home) => home.run('x'))
const written: Promise<void> = atomicWriteText(warplineHome(), '')
// @ts-expect-error: what is not published has no types
type Hidden = import('warpline/lib/native.js').native
// @ts-expect-error: the codes are closed
const unknown = (error: warpline.WarplineError) => error.code === 'ERR_WARPLINE_TIRED'

export type { Hidden }
export { advanced, handler, invoked, manifest, parsed, tested, unknown, written }
