import { PluginManifestSchema } from 'warpline/schemas/plugin-manifest'

// One literal and nothing else: `warpline plan` reads this file before anybody was asked for anything.
export const manifest = PluginManifestSchema.parse({
  name: 'plugin-name',
  version: '0.1.0',
  description: 'Counts the days that are left until a date',
  autonomy_level: 'autonomous',
  side_effects: [], // every effect it has, reading over the network (external_api) included
  ttl_hours: 12, // how old the last run may be
  schedule: 'on_run',
  timeout_ms: 10_000,
  max_retries: 0,
  inputs: {
    date: {
      type: 'string',
      default: '2030-01-01',
      description: 'The day to count to, as YYYY-MM-DD',
    },
  },
  outputs: {
    countdown: {
      type: 'countdown',
      description: 'The days that are left, as JSON',
      temporality: 'replace',
    },
  },
})
