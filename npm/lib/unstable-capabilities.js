// Types alone: nothing exists here at run time.

'use strict'

module.exports = {}
