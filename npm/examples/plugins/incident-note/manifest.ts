import { PluginManifestSchema } from 'warpline/schemas/plugin-manifest'

export const manifest = PluginManifestSchema.parse({
  name: 'incident-note',
  version: '1.0.0',
  description: 'Writes one note per breach that anomaly-watch reports',
  autonomy_level: 'supervised',
  side_effects: ['modifies_file'],
  ttl_hours: 24,
  schedule: 'on_run',
  timeout_ms: 10_000,
  max_retries: 0,
  dependencies: ['anomaly-watch'],
  outputs: {
    note: {
      type: 'incident-note',
      description: 'A file under notes/ of the home',
      temporality: 'versioned',
    },
  },
})
