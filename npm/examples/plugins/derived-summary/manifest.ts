import { PluginManifestSchema } from 'warpline/schemas/plugin-manifest'

export const manifest = PluginManifestSchema.parse({
  name: 'derived-summary',
  version: '1.0.0',
  description: 'Says how each metric of metrics-rollup moved from one week to the next',
  autonomy_level: 'autonomous',
  side_effects: [],
  ttl_hours: 24,
  schedule: 'weekly',
  timeout_ms: 5_000,
  max_retries: 0,
  dependencies: ['metrics-rollup'],
  outputs: {
    summary: { type: 'summary', description: 'A few lines of markdown', temporality: 'replace' },
  },
})
