import { PluginManifestSchema } from 'warpline/schemas/plugin-manifest'

export const manifest = PluginManifestSchema.parse({
  name: 'anomaly-watch',
  version: '1.0.0',
  description:
    'Compares the readings of host-metrics with limits and with the breaches it saw before',
  autonomy_level: 'autonomous',
  side_effects: [],
  ttl_hours: 1,
  schedule: 'on_run',
  timeout_ms: 10_000,
  max_retries: 0,
  dependencies: ['host-metrics'],
  inputs: {
    load_per_cpu_max: {
      type: 'number',
      default: 4,
      description: 'One-minute load average per processor',
    },
    memory_used_max_percent: { type: 'number', default: 90 },
    disk_used_max_percent: { type: 'number', default: 90 },
    uptime_min_seconds: {
      type: 'number',
      default: 600,
      description: 'Less than this means a recent restart',
    },
  },
  outputs: {
    report: {
      type: 'anomaly-report',
      description: 'Breached, newly breached and cleared limits',
      temporality: 'versioned',
    },
  },
})
