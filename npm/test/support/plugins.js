// Plugin directories for tests, outside of any package.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after } from 'node:test'

/** A new directory that is removed after the tests of the file. */
export function temporaryDirectory() {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'warpline-test-')))
  after(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/**
 * Writes files; directories come to be.
 *
 * @param {string} root
 * @param {Record<string, string>} files content by path relative to `root`
 */
export function writeFiles(root, files) {
  for (const [name, content] of Object.entries(files)) {
    const path = join(root, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
  }
}
