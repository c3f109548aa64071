import { PluginManifestSchema } from 'warpline/schemas/plugin-manifest'

export const manifest = PluginManifestSchema.parse({
  name: 'feed-monitor',
  version: '1.0.0',
  description: 'Reads an RSS or Atom feed and passes on the entries it has not seen before',
  autonomy_level: 'autonomous',
  side_effects: ['external_api'],
  ttl_hours: 2,
  schedule: 'on_run',
  timeout_ms: 20_000,
  max_retries: 2,
  retry_delay_ms: 2_000,
  inputs: {
    feed_url: { type: 'string', description: 'Where the feed is, http or https' },
  },
  outputs: {
    entries: {
      type: 'feed-entries',
      description: 'Title, link and date of the new entries, at most 15, newest first',
      temporality: 'versioned',
    },
  },
})
