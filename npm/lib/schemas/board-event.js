// The shape of the board's events and of what an operator did about them.

'use strict'

const { defineSchema } = require('../schema-object.js')

/** @typedef {typeof import('./board-event.js')} Published */

/** @type {Published['BoardEventSchema']} */
const BoardEventSchema = defineSchema('board-event')

/** @type {Published['AcknowledgementsSchema']} */
const AcknowledgementsSchema = defineSchema('acknowledgements')

module.exports = { BoardEventSchema, AcknowledgementsSchema }
