// Lists the artefacts of a folder with their sizes, and writes their digests to SHA256SUMS, as `sha256sum --check` reads it.
//
//   node scripts/release/sums.mjs DIRECTORY
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'

const ARTEFACT = /\.(?:tgz|whl|tar\.gz|crate)$/
const [directory] = process.argv.slice(2)

const paths = readdirSync(directory, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && ARTEFACT.test(entry.name))
  .map((entry) => relative(directory, join(entry.parentPath ?? entry.path, entry.name)))
  .sort()
if (paths.length === 0) {
  console.error(`${directory} holds no artefact`)
  process.exit(1)
}
const rows = paths.map((path) => {
  const bytes = readFileSync(join(directory, path))
  return { path, size: bytes.length, digest: createHash('sha256').update(bytes).digest('hex') }
})
writeFileSync(
  join(directory, 'SHA256SUMS'),
  rows.map(({ digest, path }) => `${digest}  ${path}\n`).join(''),
)

const width = Math.max(...paths.map((path) => path.length))
for (const { path, size, digest } of rows) {
  console.log(
    `${path.padEnd(width)}  ${(size / 1e6).toFixed(2).padStart(6)} MB  ${digest.slice(0, 12)}`,
  )
}
