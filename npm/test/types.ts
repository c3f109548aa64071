// What the types admit and refuse. Checked by tsc, never run.

import type { StandardSchemaV1 } from '@standard-schema/spec'
import type {
  AdvanceOptions,
  AdvanceResult,
  HandlerFn,
  PluginFsmState,
  RunProfile,
  WarplineError,
} from 'warpline'
import { runAdvance } from 'warpline'
import { warplineHome } from 'warpline/lib/paths'
import {
  type PluginManifest,
  type PluginManifestInput,
  PluginManifestSchema,
} from 'warpline/schemas/plugin-manifest'
import {
  type OutputRecord,
  type SkillResult,
  type SkillResultInput,
  SkillResultSchema,
} from 'warpline/schemas/skill-result'
import type {
  CapabilityContext,
  CapabilityHandlerFn,
  DependenciesHandle,
  GrantWitness,
  SecretsHandle,
} from 'warpline/unstable-capabilities'
import { atomicWriteJson, readJsonOrNull } from 'warpline/unstable-fs'
import { skillFailure, skillHandoff, skillOk } from 'warpline/unstable-result'
import {
  type InvokePluginOptions,
  invokePlugin,
  loadPluginManifests,
} from 'warpline/unstable-runtime'
import { openTestHome, type TestHome, type TestRun } from 'warpline/unstable-testing'

// A manifest is parsed from anything and read as what it is.
export const manifest: PluginManifest = PluginManifestSchema.parse({
  name: 'x',
  version: '1',
  description: 'd',
  autonomy_level: 'autonomous',
  ttl_hours: 1,
})
// @ts-expect-error a misspelt field is no field
PluginManifestSchema.parse({ ...manifest, side_effect: ['sends_email'] })
// @ts-expect-error a level that nobody knows
PluginManifestSchema.parse({ ...manifest, autonomy_level: 'auto' })
export const written: PluginManifestInput = {
  name: 'x',
  version: '1',
  description: '',
  autonomy_level: 'autonomous',
  ttl_hours: 1,
  inputs: { repo: { type: 'string', default: 'a/b' } },
  outputs: { report: { type: 'report' } },
}
export const refused: PluginManifestInput = {
  ...written,
  // @ts-expect-error: the set of effects is closed
  side_effects: ['sends_teleport'],
}

// Handlers with three and four parameters; a wrong result is refused.
export const three: HandlerFn = async (given, args, signal) => {
  signal.throwIfAborted()
  return skillOk(`${given.name} ${Object.keys(args).length}`)
}
export const four: CapabilityHandlerFn = async (_manifest, _args, _signal, capabilities) => {
  const names: string[] = capabilities.secrets.resolvedNames(capabilities.caller)
  const output: OutputRecord | null = capabilities.dependencies.lastOutput(capabilities.caller, 'a')
  // @ts-expect-error: a member takes the caller
  capabilities.secrets.resolvedNames()
  // @ts-expect-error: a dependency is asked for by the caller
  capabilities.dependencies.lastRun('a')
  return output?.body === undefined
    ? skillFailure('data_missing', names.join(), { impact: 'LOW', source: 's' })
    : skillHandoff('t', 'a.json', {
        artifacts_produced: ['report.md', { type: 'brief', body: 'b' }],
      })
}
export const widened: CapabilityHandlerFn = three
// @ts-expect-error: a result has a status
export const wrong: HandlerFn = async () => ({ summary: 'x' })
// @ts-expect-error: a body and a path together
export const both: SkillResultInput['artifacts_produced'] = [{ type: 't', body: 'b', path: 'p' }]
// @ts-expect-error: the codes are closed
skillFailure('unknown_error', 'm')

// A validated result is accepted where a handler's is.
export const parsed: SkillResult = SkillResultSchema.parse({})
export const again: SkillResultInput = parsed
const outcome = SkillResultSchema.safeParse({})
if (outcome.success) outcome.data.errors satisfies readonly object[]
else outcome.error.issues.map((issue) => issue.path)
// @ts-expect-error: data is there after success alone
outcome.data

// Schema objects are what libraries that take any schema expect, with the types on both sides.
export const standard: StandardSchemaV1<PluginManifestInput, PluginManifest> = PluginManifestSchema
export const input: StandardSchemaV1.InferInput<typeof SkillResultSchema> = skillOk('')
export const given: StandardSchemaV1.InferOutput<typeof PluginManifestSchema> = manifest
// @ts-expect-error: what comes out is a manifest
export const another: StandardSchemaV1<PluginManifestInput, SkillResult> = PluginManifestSchema

// An invocation takes a witness.
const witness: GrantWitness = { granted: true, scope: 'x' }
export const invoked = invokePlugin('x', {}, { runId: 'r' }, witness)
export const manual = invokePlugin('x', {}, {}, { granted: false, reason: 'manual-run' })
const onAttemptStart = (attempt: number) => void attempt
const onAttemptFailed = (attempt: number, message: string) => void [attempt, message]
export const told = invokePlugin('x', {}, { onAttemptStart, onAttemptFailed }, witness)
// @ts-expect-error: an attempt that failed is told with its number first
export const mistold: InvokePluginOptions['onAttemptFailed'] = (failed: Error) => failed
// @ts-expect-error: the witness is missing
export const missing = invokePlugin('x', {}, {})
// @ts-expect-error: a witness without a grant gives its reason
export const reasonless = invokePlugin('x', {}, {}, { granted: false })

// An advance.
export const options: AdvanceOptions = {
  profile: 'daily',
  signal: AbortSignal.timeout(1),
  onPluginEnd: (plugin: string, state: PluginFsmState, elapsedMs: number, reason?: string) =>
    void [plugin, state, elapsedMs, reason],
}
// @ts-expect-error: the profiles are closed
export const hourly: AdvanceOptions = { profile: 'hourly' }
export const advanced: Promise<AdvanceResult> = runAdvance(options)
export const profile: RunProfile = 'weekly'
export const loaded = loadPluginManifests().then(({ manifests }) => manifests.get('x')?.ttl_hours)
export const home: string = warplineHome()
export const file: Promise<unknown> = readJsonOrNull('x').then((value) =>
  atomicWriteJson('y', value),
)
// A test home.
export const opened: Promise<TestHome> = openTestHome({ pluginsDir: new URL('file:///plugins') })
export const ran = async (test: TestHome): Promise<TestRun> => {
  await test.write('state/x.json', { rows: [] })
  return test.run('x', {
    args: { repo: 'a/b' },
    config: {},
    secrets: { TOKEN: 't' },
    dependencies: { a: { output: { type: 't', body: 'b' }, run: 'gated' }, b: {} },
    now: '2026-03-01T08:00:00Z',
  })
}
// @ts-expect-error: a folder of plugins is named
openTestHome({})
// @ts-expect-error: the ways in which a run ends are closed
export const tired = (test: TestHome) => test.run('x', { dependencies: { a: { run: 'tired' } } })
export const locked = (error: WarplineError) => error.code === 'ERR_WARPLINE_LOCKED'
// @ts-expect-error: the codes are closed
export const unknown = (error: WarplineError) => error.code === 'ERR_WARPLINE_TIRED'
export type Named = [CapabilityContext, DependenciesHandle, SecretsHandle]
