import { PluginManifestSchema } from 'warpline/schemas/plugin-manifest'

export const manifest = PluginManifestSchema.parse({
  name: 'draft-writer',
  version: '1.0.0',
  description: 'Lays out a draft as configured and hands the writing of it to a model',
  autonomy_level: 'autonomous',
  side_effects: ['modifies_file'],
  capabilities: ['llm_required'],
  ttl_hours: 24,
  schedule: 'weekly',
  timeout_ms: 10_000,
  max_retries: 0,
  inputs: {
    title: { type: 'string', description: 'What the draft is called' },
    audience: { type: 'string', default: 'people who know the subject' },
    tone: { type: 'string', default: 'plain', description: 'One of plain, formal, friendly' },
    sections: {
      type: 'array',
      default: ['Summary', 'Details', 'What is next'],
      description: 'The headings, 1 to 20 texts',
    },
    words_max: { type: 'number', default: 600, description: 'From 50 to 5000' },
    cite_sources: { type: 'boolean', default: true },
    notes_path: {
      type: 'string',
      required: false,
      description: 'A text file inside the home with what the draft is to be made of',
    },
  },
  outputs: {
    draft: {
      type: 'draft',
      description: 'A file under drafts/ of the home, one for each brief',
      temporality: 'versioned',
    },
  },
})
