import { PluginManifestSchema } from 'warpline/schemas/plugin-manifest'

export const manifest = PluginManifestSchema.parse({
  name: 'daily-digest',
  version: '1.0.0',
  description: 'Puts the readings, the limits and the notes on one page',
  autonomy_level: 'autonomous',
  side_effects: [],
  ttl_hours: 20,
  schedule: 'daily',
  timeout_ms: 10_000,
  max_retries: 0,
  dependencies: ['host-metrics', 'anomaly-watch', 'incident-note'],
  outputs: {
    digest: { type: 'digest', description: 'One page of markdown', temporality: 'versioned' },
  },
})
