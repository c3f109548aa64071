// Every place that states the version of the project: how it is found in a file, and how another one is put there.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What a version looks like: `0.2.0`, or `0.2.0-rc.1` before it. Python writes the latter as `0.2.0rc1` by itself. */
export const VERSION = /^(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}(?:-(?:alpha|beta|rc)\.[1-9]\d*)?$/

const STATED = String.raw`\d+\.\d+\.\d+(?:-[a-z]+\.\d+)?`

/** A version that follows `before` and stands before `after`. */
const between = (before, after) => new RegExp(`(${before})(${STATED})(?=${after})`, 'gm')

const IN_CARGO = [
  between(String.raw`^\[workspace\.package\]\nversion = "`, '"'),
  between(String.raw`^warpline-[a-z-]+ = \{[^}\n]*\bversion = "=?`, '"'),
]
/** A crate of this workspace has no source in a lock file, and is followed by its dependencies. */
const IN_CARGO_LOCK = [
  between(String.raw`^name = "warpline-(?!fuzz")[a-z-]+"\nversion = "`, String.raw`"\n(?!source)`),
]
const IN_NPM = [
  between(String.raw`^\{\n {2}"name": "warpline",\n {2}"version": "`, '"'),
  between(String.raw`^ {4}"": \{\n {6}"name": "warpline",\n {6}"version": "`, '"'),
  between('^ *"@?warpline[/-][a-z0-9/-]+": "', '"'),
]
/** The first heading of the changes; what follows the version says whether it is published. */
const IN_CHANGES = [between('^(?<!^## [^]*)## ', ', ')]
/** Files of packages by name, and dependencies on the packages, as a page tells people to type them. */
const IN_PAGES = [
  between(
    String.raw`\bwarpline(?:[-_](?:runtime|core))?-`,
    String.raw`(?:\.tgz|\.tar\.gz|\.crate|-)`,
  ),
  between(String.raw`\bwarpline-(?:darwin|linux|win32)-[a-z0-9-]+-`, String.raw`\.tgz`),
  between(String.raw`\bwarpline(?:-runtime|/[a-z0-9-]+)?(?:@|==)`, String.raw`\b`),
  between(String.raw`^warpline-core = (?:"|\{.*\bversion = ")=?`, '"'),
]

/** The files that state it, with the patterns; `required` where a file without the version is broken. */
function places(root) {
  const pages = (folder) =>
    existsSync(join(root, folder))
      ? readdirSync(join(root, folder))
          .filter((name) => name.endsWith('.md') && name !== 'CHANGELOG.md')
          .map((name) => ({ file: join(folder, name), patterns: IN_PAGES, required: false }))
      : []
  return [
    { file: 'Cargo.toml', patterns: IN_CARGO, required: true },
    { file: 'Cargo.lock', patterns: IN_CARGO_LOCK, required: true },
    { file: 'fuzz/Cargo.lock', patterns: IN_CARGO_LOCK, required: true },
    { file: 'npm/package.json', patterns: IN_NPM, required: true },
    { file: 'npm/package-lock.json', patterns: IN_NPM, required: true },
    { file: 'CHANGELOG.md', patterns: IN_CHANGES, required: true },
    ...['.', 'docs', 'core', 'npm', 'python'].flatMap(pages),
  ]
}

/** What is stated where: `{file, line, version}` for each place. Throws where a file that must state it does not. */
export function stated(root) {
  return places(root).flatMap(({ file, patterns, required }) => {
    const text = readFileSync(join(root, file), 'utf8')
    const found = patterns.flatMap((pattern) => [...text.matchAll(pattern)])
    if (required && found.length === 0)
      throw new Error(`${file}: no version of the project is stated`)
    return found.map((match) => ({
      file,
      line: text.slice(0, match.index + match[1].length).split('\n').length,
      version: match[2],
    }))
  })
}

/** The one version of all places. Throws a text that lists them where they disagree. */
export function agreed(root) {
  const found = stated(root)
  const [version, ...others] = new Set(found.map((place) => place.version))
  if (others.length > 0) throw new Error(`the places disagree about the version:\n${list(found)}`)
  return version
}

/** A line for each place. */
export function list(found) {
  return found.map(({ file, line, version }) => `  ${file}:${line}: ${version}`).join('\n')
}

/** Writes another version into every place; returns the files that changed. */
export function state(root, version) {
  return places(root)
    .filter(({ file, patterns }) => {
      const before = readFileSync(join(root, file), 'utf8')
      const after = patterns.reduce(
        (text, pattern) => text.replace(pattern, `$1${version}`),
        before,
      )
      if (after !== before) writeFileSync(join(root, file), after)
      return after !== before
    })
    .map(({ file }) => file)
}
