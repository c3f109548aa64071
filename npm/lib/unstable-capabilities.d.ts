// The capability context of a handler, and the witness that an invocation takes.

import type { RunStatus } from './schemas/engine-state.js'
import type { PluginManifest } from './schemas/plugin-manifest.js'
import type { OutputRecord, SkillResultInput } from './schemas/skill-result.js'

/** Who runs: the first argument of every capability's members. */
export interface Caller {
  /** The plugin's directory name. */
  readonly plugin: string
  /** The run that this invocation belongs to. */
  readonly runId: string
}

/** Names of credentials, never values. */
export interface SecretsHandle {
  /** The declared names, all of which resolved. */
  resolvedNames(caller: Caller): string[]
}

/** What the declared dependencies last did. An undeclared name throws. */
export interface DependenciesHandle {
  /** The newest output the plugin ever produced; `null` where the host knows of none. */
  lastOutput(caller: Caller, plugin: string): OutputRecord | null
  /** How the plugin's last run ended; `null` where the host knows of none. */
  lastRun(caller: Caller, plugin: string): RunStatus | null
}

/** Fourth argument of a handler. */
export interface CapabilityContext {
  readonly caller: Caller
  readonly dependencies: DependenciesHandle
  readonly secrets: SecretsHandle
}

/** A handler with all four parameters. One with fewer is assignable to it. */
export type CapabilityHandlerFn = (
  manifest: PluginManifest,
  args: Record<string, unknown>,
  signal: AbortSignal,
  capabilities: CapabilityContext,
) => Promise<SkillResultInput>

/** Why an invocation may go ahead: a grant that covers it, or why none is needed. */
export type GrantWitness =
  | { readonly granted: true; readonly scope: string }
  | { readonly granted: false; readonly reason: 'manual-run' | 'no-declared-side-effects' }
