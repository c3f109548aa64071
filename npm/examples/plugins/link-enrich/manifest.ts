import { PluginManifestSchema } from 'warpline/schemas/plugin-manifest'

export const manifest = PluginManifestSchema.parse({
  name: 'link-enrich',
  version: '1.0.0',
  description: 'Looks up the titles of the links that three other plugins came across',
  autonomy_level: 'autonomous',
  side_effects: ['external_api'],
  secrets: ['LINK_SERVICE_TOKEN'],
  ttl_hours: 6,
  schedule: 'on_run',
  timeout_ms: 60_000,
  max_retries: 1,
  retry_delay_ms: 5_000,
  dependencies: ['feed-monitor', 'draft-writer', 'incident-note'],
  inputs: {
    base_url: {
      type: 'string',
      description: 'A service that answers GET /preview?url=... with {"title": ...}',
    },
    links_max: { type: 'number', default: 5, description: 'For each source, from 1 to 8' },
  },
  outputs: {
    links: {
      type: 'link-titles',
      description: 'For each source, how it ended, and its links with their titles',
      temporality: 'versioned',
    },
  },
})
