import { PluginManifestSchema } from 'warpline/schemas/plugin-manifest'

export const manifest = PluginManifestSchema.parse({
  name: 'host-metrics',
  version: '1.0.0',
  description: 'Reads load, memory, disk space and uptime of this machine',
  autonomy_level: 'autonomous',
  side_effects: [],
  ttl_hours: 0.25,
  schedule: 'on_run',
  timeout_ms: 10_000,
  max_retries: 0,
  inputs: {
    source: {
      type: 'string',
      default: '/proc',
      description: 'Directory in the layout of /proc: the files loadavg, meminfo, stat and uptime',
    },
    disk_path: {
      type: 'string',
      default: '/',
      description: 'Any path of the file system to measure; unused where source holds a file disk',
    },
  },
  outputs: {
    readings: {
      type: 'host-metrics',
      description: 'All readings of one moment',
      temporality: 'replace',
    },
  },
})
