// Time limits that must not be reached, on machines that stop now and then for longer than the limit.

const LIMITS = [50, 500, 5_000, 15_000]

/** The limits that are tried, in milliseconds, for plugins that have to be there before. */
export const limits = Object.freeze(LIMITS)

/**
 * Checks something under ever longer limits, until it holds under one of them. What breaks a promise about
 * limits breaks it under each.
 *
 * @param {(limit: number) => Promise<void>} check
 */
export async function underSomeLimit(check) {
  for (const limit of LIMITS) {
    try {
      return await check(limit)
    } catch (error) {
      if (limit === LIMITS.at(-1)) throw error
    }
  }
}
