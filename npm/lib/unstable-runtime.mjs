// The runtime piece by piece, for hosts.

import { createRequire } from 'node:module'

export const {
  computeTier,
  emitAttemptFailed,
  emitBoardEvent,
  emitPluginCompleted,
  formatIdleDuration,
  invokePlugin,
  isEligibleForTier,
  loadPluginManifests,
  makeEvent,
  RUN_PROFILES,
} = createRequire(import.meta.url)('./unstable-runtime.js')
