// What CHANGELOG.md says of a version, and whether a change to the code is told there.
//
// The first heading below the title is the version in work, `## 0.2.0, not released`, or the last one that was
// published, `## 0.2.0, 2026-12-01`. A release needs the latter, with a line below it.

const HEADING = /^## (\S+), (.+)$/
const DATE = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/
const OPEN = 'not released'

/** The sections, newest first: `{version, when, lines}`, where `lines` are the entries. Throws for a heading that is neither. */
export function sections(text) {
  const found = []
  for (const line of text.split('\n')) {
    if (line.startsWith('## ')) {
      const [, version, when] = HEADING.exec(line) ?? []
      if (when !== OPEN && !isDate(when)) {
        throw new Error(
          `CHANGELOG.md: \`${line}\` is not \`## VERSION, YYYY-MM-DD\` or \`## VERSION, ${OPEN}\``,
        )
      }
      found.push({ version, when, lines: [] })
    } else if (found.length > 0 && line.startsWith('- ')) {
      found.at(-1).lines.push(line)
    }
  }
  return found
}

function isDate(text) {
  return DATE.test(text ?? '') && new Date(`${text}T00:00:00Z`).toISOString().startsWith(text)
}

/** Why a version may not be published, in one sentence, or nothing. */
export function obstacle(text, version) {
  const all = sections(text)
  const section = all.find((each) => each.version === version)
  if (!section) return `CHANGELOG.md has no section \`## ${version}, YYYY-MM-DD\``
  if (section !== all[0]) return `CHANGELOG.md has a newer section than ${version}`
  if (section.when === OPEN)
    return `CHANGELOG.md says that ${version} is not released: it needs a date`
  if (section.lines.length === 0) return `CHANGELOG.md says nothing about ${version}`
  return undefined
}

/** The text with the section of the version in work: renamed where the first one is open, else begun above it. `date` closes it. */
export function opened(text, version, date) {
  if (date !== undefined && !isDate(date))
    throw new Error(`\`${date}\` is no date such as 2026-12-01`)
  const heading = `## ${version}, ${date ?? OPEN}`
  const [first] = sections(text)
  if (!first) throw new Error('CHANGELOG.md has no section')
  const stands = `## ${first.version}, ${first.when}`
  if (first.when === OPEN || first.version === version) return text.replace(stands, heading)
  return text.replace(stands, `${heading}\n\n${stands}`)
}

/** What people install is made of these; a test, a page or a tool changes nothing for them. */
const CODE = [
  /^core\/(?:src|templates)\//,
  /^bindings-(?:node|python)\/src\//,
  /^npm\/(?:bin|lib)\//,
  /^npm\/examples\/plugins\//,
  /^python\/warpline\//,
  /^(?:Cargo|pyproject)\.toml$/,
]

/**
 * Why a change may not be merged, in one sentence, or nothing: code that people install has changed, and no entry is
 * new. `[no effect]` in the message of every commit that touches code says that nobody can notice.
 *
 * `commits` are `{subject, message, files}`, `before` and `after` the text of the change log.
 */
export function untold(commits, before, after) {
  const isCode = (file) => CODE.some((pattern) => pattern.test(file))
  const touching = commits.filter(
    ({ files, message }) => files.some(isCode) && !message.includes('[no effect]'),
  )
  if (touching.length === 0) return undefined
  const known = new Set(sections(before).flatMap(({ lines }) => lines))
  const [first] = sections(after)
  if (first?.lines.some((line) => !known.has(line))) return undefined
  return `CHANGELOG.md has no new line about what these change for people; a commit without an effect says \`[no effect]\`:\n${touching.map(({ subject }) => `  ${subject}`).join('\n')}`
}
