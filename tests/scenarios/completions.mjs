// The scripts of `warpline completions`, loaded by the shells they are for. bash must be there; a test of zsh or fish says where that shell is not.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { account, environment, hosts, run } from '../support.mjs'

/** What each shell is told: load the script, then complete `warpline pl`, `warpline plan --ex` and `warpline plan --color n`. */
const questions = {
  bash: (script) => [
    '--norc',
    '-euc',
    `source '${script}'
    complete -p warpline > /dev/null
    ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _warpline warpline "\${@: -1}" "\${@: -2:1}"; echo "\${COMPREPLY[@]}"; }
    ask warpline pl; ask warpline plan --ex; ask warpline plan --color n`,
  ],
  fish: (script) => [
    '--no-config',
    '-c',
    `source '${script}'
    complete -C 'warpline pl'; complete -C 'warpline plan --ex'; complete -C 'warpline plan --color n'`,
  ],
  // That the function is defined and bound says that the script is whole; below zsh is asked at a prompt.
  zsh: (script) => [
    '-f',
    '-c',
    `autoload -U compinit; compinit -u -D; source '${script}'
    [[ $_comps[warpline] = _warpline ]] && functions _warpline | grep -oE "plan|--explain|never"`,
  ],
}

/** Says in the output of the tests which shell is not asked. */
const unlessThere = (shell) => {
  const isThere = shell === 'bash' || run('sh', ['-c', `command -v ${shell}`]).status === 0
  return { skip: isThere ? false : `${shell} is not on this machine` }
}

for (const [shell, question] of Object.entries(questions)) {
  test(`${shell} completes verbs, options and values`, unlessThere(shell), async (t) => {
    const directory = await mkdtemp(join(tmpdir(), 'warpline-shell-'))
    t.after(() => rm(directory, { recursive: true, force: true }))
    const env = environment(join(directory, 'nowhere'), { HOME: directory })
    const { command, args } = hosts.node
    const printed = run(command, [...args, 'completions', shell], { cwd: directory, env })
    assert.equal(printed.status, 0, account(printed))
    const script = join(directory, '_warpline')
    await writeFile(script, printed.stdout)
    const asked = run(shell, question(script), { cwd: directory, env })
    assert.equal(asked.status, 0, account(asked))
    assert.equal(asked.stderr, '')
    for (const word of ['plan', '--explain', 'never']) {
      assert.match(asked.stdout, new RegExp(`^${word}\\b`, 'm'), account(asked))
    }
  })
}

/** Lines that end in the beginning of a name, and the name. The last names a home of its own. */
const LINES = [
  ['show al', 'alpha'],
  ['log --plugin be', 'beta'],
  ['--home elsewhere approve alpha ch', 'charlie'],
]

/** What each shell is told: load the script, then complete these lines. */
const asking = {
  bash: (script) => `source '${script}'
    ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _warpline_or_plugins warpline "\${@: -1}" "\${@: -2:1}"; echo "\${COMPREPLY[@]}"; }
    ${LINES.map(([line]) => `ask warpline ${line}`).join('\n')}
    ask warpline show ''; ask warpline approve --ttl a; ask warpline scaffold a`,
  fish: (script) =>
    [`source '${script}'`, ...LINES.map(([line]) => `complete -C 'warpline ${line}'`)].join('\n'),
  // A terminal of its own for each line, because a tab that comes before the prompt is only echoed.
  zsh: (script) => `zmodload zsh/zpty
    ask() {
      zpty shell zsh -f -i
      zpty -w shell "autoload -U compinit; compinit -u -D; source '${script}'; print -r re''ady"
      zpty -r -m shell answer '*ready*'
      zpty -n -w shell "warpline $1"$'\\t'
      zpty -r -m shell answer "*$2*"
      print -r -- $2
      zpty -d shell
    }
    ${LINES.map(([line, name]) => `ask '${line}' ${name}`).join('\n')}`,
}

for (const [shell, ask] of Object.entries(asking)) {
  test(
    `${shell} completes names of plugins, and runs none of them`,
    unlessThere(shell),
    async (t) => {
      const directory = await mkdtemp(join(tmpdir(), 'warpline-shell-'))
      t.after(() => rm(directory, { recursive: true, force: true }))
      const { command, args } = hosts.node
      const program = join(directory, 'bin', 'warpline')
      await mkdir(join(directory, 'bin'))
      const words = [command, ...args].map((word) => `'${word}'`).join(' ')
      await writeFile(program, `#!/bin/sh\nexec ${words} "$@"\n`, { mode: 0o755 })
      for (const name of ['alpha', 'beta', '$(touch ran)', '-x', 'a b']) {
        await mkdir(join(directory, '.warpline', 'plugins', name), { recursive: true })
      }
      const manifest = join(directory, '.warpline', 'plugins', 'alpha', 'manifest.ts')
      await writeFile(
        manifest,
        `import { writeFileSync } from 'node:fs'\nwriteFileSync('ran', '')\n`,
      )
      await mkdir(join(directory, 'elsewhere', 'plugins', 'charlie'), { recursive: true })
      const { WARPLINE_HOME, ...rest } = environment('')
      const env = {
        ...rest,
        HOME: directory,
        PATH: `${directory}/bin:${process.env.PATH}`,
        TERM: 'dumb',
      }
      const at = { cwd: directory, env }
      const printed = run(program, ['completions', shell], at)
      assert.equal(printed.status, 0, account(printed))
      const script = join(directory, '_warpline')
      await writeFile(script, printed.stdout)
      const options = { bash: ['--norc', '-uc'], fish: ['--no-config', '-c'], zsh: ['-f', '-c'] }[
        shell
      ]
      const asked = run(shell, [...options, ask(script)], at)
      const told = asked.stdout
        .trim()
        .split('\n')
        .map((line) => line.split('\t')[0].trim())
      const names = LINES.map(([, name]) => name)
      const expected = shell === 'bash' ? [...names, 'alpha beta'] : names
      assert.deepEqual(told, expected, account(asked))
      assert.equal(asked.stderr, '')
      assert.ok(!existsSync(join(directory, 'ran')), 'no code ran')
    },
  )
}
