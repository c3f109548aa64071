// The shape of a plugin's manifest.

import type { Schema } from '../schema.js'

/** An effect that a plugin declares and a human approves. */
export type SideEffect =
  | 'sends_email'
  | 'creates_issue'
  | 'writes_db'
  | 'external_api'
  | 'modifies_file'

/** Who may let a plugin proceed once it is due. */
export type AutonomyLevel = 'autonomous' | 'supervised' | 'manual'

/** When an advance considers a plugin at all. */
export type Schedule = 'on_run' | 'daily' | 'weekly' | 'manual'

/** How attentive the operator is; later members are less attentive. */
export type Tier = 'normal' | 'degraded' | 'extended' | 'suspended'

/** The type of an input value. */
export type InputType = 'string' | 'number' | 'boolean' | 'array' | 'object'

/** Whether outputs of earlier runs stay (`versioned`) or the newest takes their place. */
export type Temporality = 'versioned' | 'replace'

/** A declared input, as a manifest writes it. */
export interface PluginInputDeclarationInput {
  type: InputType
  /** Whether a run without a value fails. Default: true. */
  required?: boolean | undefined
  /** The value where nobody supplies one. */
  default?: unknown
  description?: string | undefined
}

/** A declared input, defaults filled in. */
export interface PluginInputDeclaration extends PluginInputDeclarationInput {
  required: boolean
}

/** A declared output, as a manifest writes it. */
export interface PluginOutputDeclarationInput {
  /** Semantic kind, free text. */
  type: string
  description?: string | undefined
  /** Default: `replace`. */
  temporality?: Temporality | undefined
}

/** A declared output, defaults filled in. */
export interface PluginOutputDeclaration extends PluginOutputDeclarationInput {
  temporality: Temporality
}

/** An action that a host may offer. */
export interface PluginAction {
  description: string
  is_default?: boolean
}

/** A manifest as a plugin writes it. */
export interface PluginManifestInput {
  /** The directory name. */
  name: string
  /** Free text; nothing compares it. */
  version: string
  /** One line for a reader. */
  description: string
  /** Default: none. */
  inputs?: Record<string, PluginInputDeclarationInput> | undefined
  /** Default: none. */
  outputs?: Record<string, PluginOutputDeclarationInput> | undefined
  /** Tags for a reader; they grant nothing. */
  capabilities?: readonly string[] | undefined
  /** Default: `on_run`. */
  schedule?: Schedule | undefined
  autonomy_level: AutonomyLevel
  /** Default: none. */
  side_effects?: readonly SideEffect[] | undefined
  /** Names of environment variables; all are required. */
  secrets?: readonly string[] | undefined
  /** Hours during which a run, failed or not, stays fresh; greater than 0. */
  ttl_hours: number
  /** Names of plugins. */
  dependencies?: readonly string[] | undefined
  /** Milliseconds for each attempt. Default: 60000. */
  timeout_ms?: number | undefined
  /** 0 to 10. Default: 1. */
  max_retries?: number | undefined
  /** Milliseconds, 0 to 60000. Default: 2000. */
  retry_delay_ms?: number | undefined
  /** What a program may offer to call by hand. Default: absent. */
  actions?: Readonly<Record<string, Readonly<PluginAction>>> | undefined
  /** How many invocations of it one process runs at once. Default: 1. */
  max_parallelism?: number | undefined
  /** The last tier in which it still runs. Default: `normal`. */
  min_tier?: Tier | undefined
}

/** A validated manifest, defaults filled in. */
export interface PluginManifest {
  name: string
  version: string
  description: string
  inputs: Record<string, PluginInputDeclaration>
  outputs: Record<string, PluginOutputDeclaration>
  capabilities: string[]
  schedule: Schedule
  autonomy_level: AutonomyLevel
  side_effects: SideEffect[]
  secrets: string[]
  ttl_hours: number
  dependencies: string[]
  timeout_ms: number
  max_retries: number
  retry_delay_ms: number
  actions?: Record<string, PluginAction>
  max_parallelism: number
  min_tier: Tier
}

/** Validates a manifest. A manifest file exports what `parse` returns. */
/**
 * The schema of a manifest. `parse` takes what a manifest module writes, so that the compiler names a
 * field that is missing or misspelt; for a value of unknown shape there is `safeParse`.
 */
export declare const PluginManifestSchema: Schema<
  PluginManifestInput,
  PluginManifest,
  PluginManifestInput
>
