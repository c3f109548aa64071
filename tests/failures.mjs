// Finds in what a suite printed which tests failed, and what each says of it: the summary of a long run closes with these.

const LINES_OF_EACH = 12

const isOf = (pattern) => (line) => pattern.exec(line)?.slice(1).join('::')

/**
 * How each runner names a test that failed. Its reasons stand behind the last line that names it, or behind the one that
 * `heads` finds; a name for which `unless` holds is none.
 */
const RUNNERS = [
  {
    name: isOf(/^test (.+?)(?: - should panic)? \.\.\. FAILED$/),
    heads: (test, line) => line === `---- ${test} stdout ----`,
  },
  // One that never came to its end.
  {
    name: isOf(/^test (.+) has been running for over \d+ seconds$/),
    unless: (test, lines) => lines.some((line) => line.startsWith(`test ${test} ... `)),
  },
  // What did not build, or ended by a signal.
  { name: isOf(/^(error(?:\[E\d+\]|: could not compile|: test failed|: \d+ target).*)$/) },
  {
    name: isOf(/^\s*not ok \d+ - ((?:(?! # TODO).)*)$/),
    // Those inside of it are named themselves.
    unless: (_, __, reasons) => reasons.some((line) => line.includes("'subtestsFailed'")),
  },
  { name: isOf(/^\s*✖ (.*) \([\d.]+ms\)$/) },
  {
    name: isOf(/^(?:FAILED|ERROR) (\S+\.py\b.*?)(?: - .*)?$/),
    heads: (test, line) =>
      line.startsWith('__') && line.includes(` ${test.split('::').slice(1).join('.') || test} `),
  },
  // The stack of Python where it crashed or hung.
  { name: isOf(/^ {2}File ".*\/(tests\/[^"]+)", line \d+ in (test_\w+)/) },
]

/** Of each test that failed its name, and the beginning of what it says: a list of [name, lines of text]. */
export function failures(said) {
  const lines = said.split(/\r?\n/)
  const found = new Map()
  for (const { name, heads, unless } of RUNNERS) {
    const named = new Map()
    for (const [at, line] of lines.entries()) {
      const test = name(line)
      if (test !== undefined) named.set(test, at)
    }
    for (const [test, at] of named) {
      const head = heads ? lines.findIndex((line) => heads(test, line)) : at
      const reasons = head < 0 ? [] : lines.slice(head + 1, head + 1 + LINES_OF_EACH)
      if (!found.has(test) && !unless?.(test, lines, reasons)) found.set(test, reasons)
    }
  }
  return [...found]
}

/** The last lines of a text that say something. */
export function lastLines(said, count) {
  const lines = said.split('\n').filter((line) => line.trim() !== '')
  return lines.slice(-count)
}
