// Time limits that must not be reached, on machines that stop now and then for longer than the limit.

/** The limits that are tried, in milliseconds. */
export const limits = [50, 500, 5_000, 15_000]

/**
 * Checks something under ever longer limits, until it holds under one of them. What breaks a promise about
 * limits breaks it under each.
 *
 * @param {(limit: number) => Promise<void>} check
 */
export async function underSomeLimit(check) {
  for (const limit of limits) {
    try {
      return await check(limit)
    } catch (error) {
      if (limit === limits.at(-1)) throw error
    }
  }
}
