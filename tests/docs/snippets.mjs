// Runs what the documentation shows, so that it cannot be wrong: one throw-away project for each page.
//
// A fence says after its language what is done with it:
//   file=PATH   written to that path of the project (the home is the project's `.warpline`)
//   run         run by bash in the project; `run exit=N` where another exit code than 0 is expected
//   output      every line must stand in what the `run` before it printed
//   example=X   is core/examples/X.rs to the letter, which is built and called by `X` from then on
//   make        every `make` target named in it must exist
//   checkout    run by bash in a copy of the project that git knows, one for each page; `checkout exit=N` likewise
// Fences of other languages, or without a language, are prose. One in a language below without a word is an error.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
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
import { basename, dirname, join, relative } from 'node:path'
import { test } from 'node:test'
import { beginCopy, gitSettings } from '../packages/release/support.mjs'
import { account, bin, environment, hosts, npmDir, python, root, run } from '../support.mjs'

const RUNNABLE = ['ts', 'js', 'mjs', 'py', 'json', 'sh', 'text', 'rust', 'toml']

/** The fences of a page: {language, word, exit, path, text, line, above}, where `above` is the end of what stands before. */
function fences(page) {
  const found = []
  for (const match of page.matchAll(/^```(\w*)([^\n]*)\n(.*?)^```$/gms)) {
    const words = match[2].trim().split(/\s+/).filter(Boolean)
    const value = (key) => words.find((word) => word.startsWith(`${key}=`))?.slice(key.length + 1)
    found.push({
      language: match[1],
      word: words[0]?.split('=')[0],
      path: value('file'),
      example: value('example'),
      exit: Number(value('exit') ?? 0),
      text: match[3],
      line: page.slice(0, match.index).split('\n').length,
      above: page.slice(0, match.index).split('\n').slice(-4).join('\n'),
    })
  }
  return found
}

/** A project with the command in it. `npx` takes longer to find it than it takes to run, so only `npxItself` looks for it in earnest. */
async function makeProject(directory, npxItself) {
  await mkdir(join(directory, 'node_modules', '.bin'), { recursive: true })
  await mkdir(join(directory, '.warpline'))
  await writeFile(
    join(directory, 'package.json'),
    JSON.stringify({ private: true, type: 'module' }),
  )
  await symlink(npmDir, join(directory, 'node_modules', 'warpline'))
  await mkdir(join(directory, '.bin'))
  const commands = {
    'node_modules/.bin/warpline': `"${process.execPath}" "${bin}"`,
    // A link would not find the packages beside the interpreter.
    '.bin/python': `"${python}"`,
  }
  for (const [path, command] of Object.entries(commands)) {
    await writeFile(join(directory, path), `#!/bin/sh\nexec ${command} "$@"\n`)
    await chmod(join(directory, path), 0o755)
  }
  if (npxItself) return
  const npx = join(directory, '.bin', 'npx')
  await writeFile(npx, '#!/bin/sh\nname=$1\nshift\nexec "node_modules/.bin/$name" "$@"\n')
  await chmod(npx, 0o755)
}

/** Does what a fence says; returns what a `run` printed. */
async function follow(fence, directory, printed) {
  switch (fence.word) {
    case 'file': {
      const path = join(directory, fence.path)
      assert.ok(!relative(directory, path).startsWith('..'), 'the file must lie in the project')
      const named = fence.above.includes(`${basename(fence.path)}\``)
      assert.ok(named, `a reader does not see its name: write \`${fence.path}\` above it`)
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, fence.text)
      return ''
    }
    case 'run': {
      const env = environment(join(directory, '.warpline'), {
        ...hosts.python.extra,
        NO_COLOR: '1',
        // What the installed package registers by itself.
        PYTEST_PLUGINS: 'warpline.pytest_plugin',
        PATH: `${join(directory, '.bin')}:${process.env.PATH}`,
      })
      // The trap keeps bash from becoming its last command: one that a signal ends would have no exit code.
      const script = `trap : EXIT\n${fence.text}`
      const ended = run('bash', ['--norc', '-euo', 'pipefail', '-c', script], {
        cwd: directory,
        env,
      })
      assert.equal(ended.status, fence.exit, account(ended))
      return ended.stdout + ended.stderr
    }
    case 'checkout': {
      const copy = join(directory, '.checkout')
      if (!existsSync(copy)) await symlink(beginCopy(), copy)
      const env = { ...environment(join(directory, '.warpline')), ...gitSettings }
      const ended = run('bash', ['--norc', '-euo', 'pipefail', '-c', fence.text], {
        cwd: copy,
        env,
      })
      assert.equal(ended.status, fence.exit, account(ended))
      return ended.stdout + ended.stderr
    }
    case 'output':
      for (const line of fence.text.trimEnd().split('\n')) {
        assert.ok(printed.includes(line), `not printed: ${line}\nbut: ${printed}`)
      }
      return printed
    case 'example': {
      const source = join(root, 'core', 'examples', `${fence.example}.rs`)
      assert.equal(fence.text, await readFile(source, 'utf8'))
      const args = ['build', '--workspace', '--locked', '--example', fence.example]
      const built = run('cargo', args, { timeout: 600_000 })
      assert.equal(built.status, 0, account(built))
      const program = join(root, 'target', 'debug', 'examples', fence.example)
      await symlink(program, join(directory, '.bin', fence.example))
      return ''
    }
    case 'make':
      for (const [, target] of fence.text.matchAll(/^make ([\w-]+)/gm)) {
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
  'python/README.md',
  ...(await readdir(join(root, 'docs')))
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`),
]

for (const name of pages) {
  test(`${name} does what it says`, async (t) => {
    const page = await readFile(join(root, name), 'utf8')
    const directory = await mkdtemp(join(tmpdir(), 'warpline-docs-'))
    t.after(() => rm(directory, { recursive: true, force: true }))
    await makeProject(directory, name === 'README.md')
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
