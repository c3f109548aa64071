import { PluginManifestSchema } from 'warpline/schemas/plugin-manifest'

export const manifest = PluginManifestSchema.parse({
  name: 'github-poll',
  version: '1.0.0',
  description:
    'Reads the counters of a GitHub repository and says what changed since the last look',
  autonomy_level: 'autonomous',
  side_effects: ['external_api'],
  ttl_hours: 1,
  schedule: 'on_run',
  timeout_ms: 20_000,
  max_retries: 2,
  retry_delay_ms: 2_000,
  inputs: {
    repo: {
      type: 'string',
      default: 'nodejs/node',
      description: 'The repository, as owner/name',
    },
    base_url: {
      type: 'string',
      default: 'https://api.github.com',
      description: 'Where the API is; another one for GitHub Enterprise',
    },
  },
  outputs: {
    counters: {
      type: 'github-counters',
      description: 'The counters of now, and their change since the last look at this repository',
      temporality: 'versioned',
    },
  },
})
