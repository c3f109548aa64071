// The shape of the log of one advance.

import { createRequire } from 'node:module'

export const { PluginLogEntrySchema, RunLogSchema } = createRequire(import.meta.url)('./run-log.js')
