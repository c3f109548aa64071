// Which processes of a home are running, for tests that nothing of it is left.

import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/**
 * The processes that were started with this home in their environment: their numbers and command lines.
 *
 * @param {string} home
 */
export function processesOf(home) {
  const found = []
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    if (Number(pid) === process.pid) continue
    try {
      const variables = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0')
      if (!variables.includes(`WARPLINE_HOME=${home}`)) continue
      found.push(`${pid} ${readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ')}`)
    } catch {
      // It has ended meanwhile, or is another user's.
    }
  }
  return found
}

/**
 * Whether a process is there that has not ended.
 *
 * @param {number} pid
 */
export function isRunning(pid) {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'))
  } catch {
    return false
  }
}

/**
 * Waits a while until something is so, and says whether it is.
 *
 * @param {() => boolean} look
 */
export async function soon(look) {
  for (let tries = 0; tries < 2400 && !look(); tries += 1) await delay(25)
  return look()
}
