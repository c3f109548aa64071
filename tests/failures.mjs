// Finds in what a suite printed which tests failed, and what each says of it: the summary of a long run closes with these.

const LINES_OF_EACH = 12

/** How each runner names a test that failed, and what the line before its reasons holds: the name again, if nothing else. */
const RUNNERS = [
  { name: /^test (\S+) \.\.\. FAILED$/, heads: (test) => `---- ${test} stdout ----` },
  { name: /^\s*not ok \d+ - (.*)$/ },
  { name: /^\s*✖ (.*) \([\d.]+ms\)$/ },
  { name: /^(?:FAILED|ERROR) (\S+::\S+)/, heads: (test) => ` ${test.split('::').pop()} ` },
]

/** Of each test that failed its name, and the beginning of what it says: a list of [name, lines of text]. */
export function failures(said) {
  const lines = said.split('\n')
  const found = new Map()
  for (const { name, heads } of RUNNERS) {
    for (const [at, line] of lines.entries()) {
      const [, test] = name.exec(line) ?? []
      if (test === undefined || found.has(test)) continue
      const head = heads ? lines.findIndex((other) => other.includes(heads(test))) : at
      found.set(test, lines.slice(head + 1, head + 1 + LINES_OF_EACH))
    }
  }
  return [...found]
}
