// States the version of the project, and says whether it may be released.
//
//   node scripts/release/release.mjs                        shows every place that states the version
//   node scripts/release/release.mjs version 0.2.0 [DATE]   states another one everywhere; DATE closes its changes
//   node scripts/release/release.mjs tag v0.2.0             refuses a tag that no place agrees with, or without dated changes
//   node scripts/release/release.mjs told BASE              refuses code that changed since BASE without a line in CHANGELOG.md
//
// `--root DIRECTORY` before these works on another checkout.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { obstacle, opened, untold } from './changes.mjs'
import { agreed, list, state, stated, VERSION } from './places.mjs'

const words = process.argv.slice(2)
let root = fileURLToPath(new URL('../..', import.meta.url))
if (words[0] === '--root') {
  root = resolve(words[1])
  words.splice(0, 2)
}
const log = join(root, 'CHANGELOG.md')

/** What git says to a question about the checkout. */
function git(...args) {
  const { status, stdout, stderr } = spawnSync('git', args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  })
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr.trim()}`)
  return stdout
}

const commands = {
  show() {
    console.log(list(stated(root)))
    return `all say ${agreed(root)}`
  },

  version(version, date) {
    if (!VERSION.test(version ?? ''))
      throw new Error(`\`${version ?? ''}\` is no version such as 0.2.0 or 0.2.0-rc.1`)
    agreed(root)
    const text = opened(readFileSync(log, 'utf8'), version, date)
    writeFileSync(log, text)
    const changed = state(root, version)
    return `${agreed(root)} in ${['CHANGELOG.md', ...changed].join(', ')}`
  },

  tag(tag) {
    const version = agreed(root)
    if (tag !== `v${version}`)
      throw new Error(`the tag is \`${tag ?? ''}\`, and everything else says ${version}`)
    const reason = obstacle(readFileSync(log, 'utf8'), version)
    if (reason) throw new Error(reason)
    const at = git('rev-list', '-n', '1', `refs/tags/${tag}`).trim()
    if (at !== git('rev-parse', 'HEAD').trim())
      throw new Error(`${tag} is another commit than the one checked out`)
    return `${tag} may be released`
  },

  told(base) {
    if (!base) throw new Error('a commit to compare with has to be named')
    const from = git('merge-base', base, 'HEAD').trim()
    const shas = git('rev-list', '--no-merges', `${from}..HEAD`).split('\n').filter(Boolean)
    const commits = shas.map((sha) => ({
      subject: git('show', '-s', '--format=%h %s', sha).trim(),
      message: git('show', '-s', '--format=%B', sha),
      files: git('show', '--format=', '--name-only', '--no-renames', '-z', sha)
        .split('\0')
        .filter(Boolean),
    }))
    const reason = untold(commits, git('show', `${from}:CHANGELOG.md`), readFileSync(log, 'utf8'))
    if (reason) throw new Error(reason)
    return `${commits.length} commits are told`
  },
}

try {
  const [name = 'show', ...args] = words
  if (!Object.hasOwn(commands, name))
    throw new Error(`\`${name}\` is none of ${Object.keys(commands).join(', ')}`)
  console.log(commands[name](...args))
} catch (error) {
  console.error(error.message)
  process.exit(1)
}
