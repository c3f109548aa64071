// Copies the newest build of the native engine beside the package.

import { copyFileSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const LIBRARY = 'libwarpline_node.so'

/** @param {string} relative */
const path = (relative) => fileURLToPath(new URL(relative, import.meta.url))

const built = ['release', 'debug']
  .map((profile) => path(`../../target/${profile}/${LIBRARY}`))
  .map((file) => ({ file, builtAt: statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
  .filter(({ builtAt }) => builtAt > 0)
  .sort((left, right) => right.builtAt - left.builtAt)

const newest = built[0]
if (!newest) {
  process.stderr.write(`no ${LIBRARY} in target/: build the workspace first (cargo build)\n`)
  process.exit(1)
}
mkdirSync(path('../native'), { recursive: true })
// Renamed into place: a process that has the old file open keeps it.
const fresh = path(`../native/warpline.node.${process.pid}`)
copyFileSync(newest.file, fresh)
renameSync(fresh, path('../native/warpline.node'))
