import { PluginManifestSchema } from 'warpline/schemas/plugin-manifest'

export const manifest = PluginManifestSchema.parse({
  name: 'anomaly-issue',
  version: '1.0.0',
  description: 'Files one GitHub issue for each breach that anomaly-watch reports',
  autonomy_level: 'supervised',
  side_effects: ['external_api', 'creates_issue'],
  secrets: ['GITHUB_TOKEN'],
  ttl_hours: 24,
  schedule: 'on_run',
  timeout_ms: 30_000,
  max_retries: 0,
  dependencies: ['anomaly-watch'],
  inputs: {
    repo: { type: 'string', description: 'Where issues go, as owner/name' },
    base_url: { type: 'string', default: 'https://api.github.com' },
  },
  outputs: {
    filed: {
      type: 'issues-filed',
      description: 'The limits whose breaches were filed in this run',
      temporality: 'versioned',
    },
  },
})
