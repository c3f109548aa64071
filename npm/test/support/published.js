// What the package publishes: each specifier with exactly its names, sorted.

/** @type {Record<string, string[]>} */
export const published = {
  warpline: ['runAdvance'],
  'warpline/lib/paths': ['warplineHome'],
  'warpline/unstable-runtime': [
    'RUN_PROFILES',
    'computeTier',
    'emitAttemptFailed',
    'emitBoardEvent',
    'emitPluginCompleted',
    'formatIdleDuration',
    'invokePlugin',
    'isEligibleForTier',
    'loadPluginManifests',
    'makeEvent',
  ],
  'warpline/unstable-fs': ['atomicWriteJson', 'atomicWriteText', 'readJsonOrNull'],
  'warpline/unstable-result': ['skillFailure', 'skillHandoff', 'skillOk'],
  'warpline/unstable-capabilities': [],
  'warpline/unstable-testing': ['openTestHome'],
  'warpline/schemas/plugin-manifest': ['PluginManifestSchema'],
  'warpline/schemas/plugin-config': ['PLUGIN_CONFIG_PRECEDENCE', 'PluginConfigSchema'],
  'warpline/schemas/skill-result': [
    'NeedsLlmSchema',
    'OUTPUT_BODY_CAP_BYTES',
    'OutputRecordSchema',
    'SkillErrorSchema',
    'SkillResultSchema',
    'makeSkillError',
  ],
  'warpline/schemas/engine-state': ['ENGINE_STATE_MAX_SCHEMA_VERSION', 'EngineStateSchema'],
  'warpline/schemas/run-log': ['PluginLogEntrySchema', 'RunLogSchema'],
  'warpline/schemas/board-event': ['AcknowledgementsSchema', 'BoardEventSchema'],
}
