import { PluginManifestSchema } from 'warpline/schemas/plugin-manifest'

export const manifest = PluginManifestSchema.parse({
  name: 'announce-fanout',
  version: '1.0.0',
  description: 'Posts each daily digest to a list of channels, once to each',
  autonomy_level: 'autonomous',
  side_effects: ['external_api'],
  ttl_hours: 20,
  schedule: 'daily',
  timeout_ms: 30_000,
  max_retries: 0,
  dependencies: ['daily-digest'],
  inputs: {
    base_url: { type: 'string', description: 'What the paths of the channels are relative to' },
    channels: {
      type: 'array',
      default: [{ name: 'general', path: '/general' }],
      description: 'From 1 to 20 of {name, path}',
    },
    labels: {
      type: 'object',
      default: {},
      description: 'Texts that are sent along with every message, at most 20',
    },
  },
  outputs: {
    delivered: {
      type: 'delivery',
      description: 'How many channels had this digest, have it now, or could not be reached',
      temporality: 'versioned',
    },
  },
})
