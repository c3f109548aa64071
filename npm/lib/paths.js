// Where the home of warpline lies.

'use strict'

const { environmentJson } = require('./environment.js')
const { native } = require('./native.js')

/**
 * @returns {string}
 */
function warplineHome() {
  return native().warplineHome(environmentJson())
}

module.exports = { warplineHome }
