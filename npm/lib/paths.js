// Where the home of warpline lies.

import { environmentJson } from './environment.js'
import { native } from './native.js'

/**
 * @returns {string}
 */
export function warplineHome() {
  return native().warplineHome(environmentJson())
}
