// The shape of the engine's state document.

import { createRequire } from 'node:module'

export const { ENGINE_STATE_MAX_SCHEMA_VERSION, EngineStateSchema } = createRequire(
  import.meta.url,
)('./engine-state.js')
