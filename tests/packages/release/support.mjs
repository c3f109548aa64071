// A copy of the checkout to change, and the command that releases.
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after } from 'node:test'
import { account, root, run } from '../../support.mjs'

const made = []

after(() => {
  for (const directory of made) rmSync(directory, { recursive: true, force: true })
})

/** A folder of its own, which is gone after the tests. */
export function folder(name) {
  const directory = mkdtempSync(join(tmpdir(), `warpline-${name}-`))
  made.push(directory)
  return directory
}

/** The files of the project that git knows of or would take up, as they lie here, in a folder of their own. */
export function copy() {
  const directory = folder('release')
  const { stdout } = run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'])
  const deleted = new Set(run('git', ['ls-files', '-z', '--deleted']).stdout.split('\0'))
  for (const file of stdout.split('\0').filter((name) => name && !deleted.has(name))) {
    mkdirSync(dirname(join(directory, file)), { recursive: true })
    cpSync(join(root, file), join(directory, file))
  }
  return directory
}

/** Runs the command on a checkout. */
export function release(directory, ...words) {
  const script = join(root, 'scripts/release/release.mjs')
  return run(process.execPath, [script, '--root', directory, ...words])
}

/** Nothing of the caller's configuration, and somebody who commits. */
export const gitSettings = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.com',
}

/** Runs git in a checkout. */
export function git(directory, ...words) {
  const env = { ...process.env, ...gitSettings }
  return run('git', words, { cwd: directory, env })
}

/** A copy that is one commit on the branch `main`. */
export function beginCopy() {
  const directory = copy()
  git(directory, 'init', '--quiet', '--initial-branch', 'main')
  git(directory, 'add', '--all')
  const done = git(directory, 'commit', '--quiet', '--message', 'Begin')
  if (done.status !== 0) throw new Error(account(done))
  return directory
}
