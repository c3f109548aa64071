// The shape of the board's events and of what an operator did about them.

import { defineSchema } from '../schema-object.js'

/** @typedef {typeof import('./board-event.js')} Published */

/** @type {Published['BoardEventSchema']} */
export const BoardEventSchema = defineSchema('board-event')

/** @type {Published['AcknowledgementsSchema']} */
export const AcknowledgementsSchema = defineSchema('acknowledgements')
