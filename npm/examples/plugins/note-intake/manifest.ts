import { PluginManifestSchema } from 'warpline/schemas/plugin-manifest'

export const manifest = PluginManifestSchema.parse({
  name: 'note-intake',
  version: '1.0.0',
  description: 'Files a note that a person types: warpline run note-intake add --input text=...',
  autonomy_level: 'manual',
  side_effects: ['modifies_file'],
  ttl_hours: 24,
  schedule: 'manual',
  timeout_ms: 10_000,
  max_retries: 0,
  inputs: {
    text: { type: 'string', description: 'The note' },
    tag: { type: 'string', default: 'inbox', description: 'A word to find it by' },
  },
  outputs: {
    note: {
      type: 'note',
      description: 'A file under inbox/ of the home',
      temporality: 'versioned',
    },
  },
})
