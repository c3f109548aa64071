// Runs what the documentation shows, so that it cannot be wrong: one throw-away project for each page.
//
// A fence says after its language what is done with it:
//   file=PATH   written to that path of the project (the home is the project's `.warpline`)
//   run         run by bash in the project; `run exit=N` where another exit code than 0 is expected
//   output      every line must stand in what the `run` before it printed
//   make        every `make` target named in it must exist
// Fences of other languages, or without a language, are prose. One in a language below without a word is an error.
import assert from 'node:assert/strict'
import {
  access,
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { test } from 'node:test'
import { account, bin, environment, hosts, npmDir, python, root, run } from '../support.mjs'

const RUNNABLE = ['ts', 'js', 'mjs', 'py', 'json', 'sh', 'text']

/** The fences of a page: {language, word, exit, path, text, line}. */
function fences(page) {
  const found = []
  for (const match of page.matchAll(/^```(\w*)([^\n]*)\n(.*?)^```$/gms)) {
    const words = match[2].trim().split(/\s+/).filter(Boolean)
    const value = (key) => words.find((word) => word.startsWith(`${key}=`))?.slice(key.length + 1)
    found.push({
      language: match[1],
      word: value('file') === undefined ? words[0] : 'file',
      path: value('file'),
      exit: Number(value('exit') ?? 0),
      text: match[3],
      line: page.slice(0, match.index).split('\n').length,
    })
  }
  return found
}

async function makeProject(directory) {
  await mkdir(join(directory, 'node_modules', '.bin'), { recursive: true })
  await mkdir(join(directory, '.warpline'))
  await writeFile(
    join(directory, 'package.json'),
    JSON.stringify({ private: true, type: 'module' }),
  )
  await symlink(npmDir, join(directory, 'node_modules', 'warpline'))
  const command = join(directory, 'node_modules', '.bin', 'warpline')
  await writeFile(command, `#!/bin/sh\nexec "${process.execPath}" "${bin}" "$@"\n`)
  await chmod(command, 0o755)
  await mkdir(join(directory, '.bin'))
  await symlink(python, join(directory, '.bin', 'python'))
}

/** Does what a fence says; returns what a `run` printed. */
async function follow(fence, directory, printed) {
  switch (fence.word) {
    case 'file': {
      const path = join(directory, fence.path)
      assert.ok(!relative(directory, path).startsWith('..'), 'the file must lie in the project')
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, fence.text)
      return ''
    }
    case 'run': {
      const env = environment(join(directory, '.warpline'), {
        ...hosts.python.extra,
        NO_COLOR: '1',
        PATH: `${join(directory, '.bin')}:${process.env.PATH}`,
      })
      const ended = run('bash', ['-euo', 'pipefail', '-c', fence.text], { cwd: directory, env })
      assert.equal(ended.status, fence.exit, account(ended))
      return ended.stdout + ended.stderr
    }
    case 'output':
      for (const line of fence.text.trimEnd().split('\n')) {
        assert.ok(printed.includes(line), `not printed: ${line}\nbut: ${printed}`)
      }
      return printed
    case 'make':
      for (const [, target] of fence.text.matchAll(/^make (\w+)/gm)) {
        const known = run('make', ['--dry-run', target], { cwd: root })
        assert.equal(known.status, 0, account(known))
      }
      return ''
    default:
      throw new Error(`\`${fence.word}\` is no word for a fence`)
  }
}

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  ...(await readdir(join(root, 'docs')))
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`),
]

for (const name of pages) {
  test(`${name} does what it says`, async (t) => {
    const page = await readFile(join(root, name), 'utf8')
    const directory = await mkdtemp(join(tmpdir(), 'warpline-docs-'))
    t.after(() => rm(directory, { recursive: true, force: true }))
    await makeProject(directory)
    let printed = ''
    for (const fence of fences(page)) {
      if (!RUNNABLE.includes(fence.language)) continue
      const where = `${name}:${fence.line}`
      assert.ok(fence.word, `${where}: the fence does not say what is done with it`)
      try {
        printed = await follow(fence, directory, printed)
      } catch (error) {
        throw new Error(`${where}: ${error.message}`, { cause: error })
      }
    }
  })

  test(`${name} links to files that are there`, async () => {
    const page = await readFile(join(root, name), 'utf8')
    for (const [, target] of page.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)) {
      if (/^[a-z]+:/.test(target)) continue
      await assert.doesNotReject(access(join(root, dirname(name), target)), `${name}: ${target}`)
    }
  })
}
