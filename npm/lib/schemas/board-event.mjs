// The shape of the board's events and of what an operator did about them.

import { createRequire } from 'node:module'

export const { AcknowledgementsSchema, BoardEventSchema } = createRequire(import.meta.url)(
  './board-event.js',
)
