import { PluginManifestSchema } from 'warpline/schemas/plugin-manifest'

export const manifest = PluginManifestSchema.parse({
  name: 'feed-triage',
  version: '1.0.0',
  description: 'Hands the new entries of feed-monitor to a model, to say which deserve attention',
  autonomy_level: 'autonomous',
  side_effects: [],
  capabilities: ['llm_required'],
  ttl_hours: 2,
  schedule: 'on_run',
  timeout_ms: 10_000,
  max_retries: 0,
  dependencies: ['feed-monitor'],
})
