// What the tests of the crate share: the files it is made of.
import assert from 'node:assert/strict'
import { account, root, run } from '../../support.mjs'

/** What cargo writes into each crate. */
export const WRITTEN = ['.cargo_vcs_info.json', 'Cargo.lock', 'Cargo.toml', 'Cargo.toml.orig']

/** Every file of the packed crate, from what a clean checkout has. */
export function expectedFiles() {
  const wanted = ['src', 'templates', 'examples/host.rs', 'README.md', 'LICENSE']
  const words = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ...wanted]
  const listed = run('git', words, { cwd: `${root}/core` })
  assert.equal(listed.status, 0, account(listed))
  return [...listed.stdout.split('\0').filter(Boolean), ...WRITTEN].sort()
}
