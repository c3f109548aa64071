// Plays one scenario under one host, and tells what was said and what the home holds in the end.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import {
  chmod,
  lutimes,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { writePlugin } from './fleet.mjs'
import { INSTANT, Labels, offsetMs, RUN, runAt } from './labels.mjs'

const MINUTE = 60_000
const DAY = 86_400_000
/** No step is as long: the labels of instants count on it. */
const LIMIT_MS = MINUTE
/** How long before the end of a day no scenario begins. */
const LONGEST = 5 * MINUTE

/** How a plan knows a manifest: one in Python is run. */
const KNOWN_BY = /,\n *"manifest": "(?:literal|run)"/g

/** The words of a line as a shell reads them, single quotes included. */
function words(line) {
  if (Array.isArray(line)) return line
  const parts = line.split("'")
  return parts.flatMap((part, place) =>
    place % 2 === 1 ? [part] : part.split(' ').filter(Boolean),
  )
}

class Playing {
  #scenario
  #host
  #labels
  #directory
  #home
  #plugins
  #told = []
  /** What the scenario itself wrote into the home, by path: no claim about what a host writes. */
  #given = new Map()
  #background

  constructor(scenario, source, host, directory) {
    this.#scenario = scenario
    this.#host = host
    this.#labels = new Labels(source)
    this.#directory = directory
    this.#home = join(directory, '.warpline')
    this.#plugins = { ...scenario.plugins }
  }

  #filled(text) {
    return this.#labels.fill(text.replaceAll('{{home}}', this.#home))
  }

  async #write(path, content) {
    const file = join(this.#home, this.#filled(path))
    await rm(file, { recursive: true, force: true })
    if (content === null) return
    await mkdir(dirname(file), { recursive: true })
    const { $text, $lines, $link, $directory, $age, $mode } = content
    if ($directory) await mkdir(file)
    else if ($link) await symlink(this.#filled($link), file)
    else {
      const lines = $lines?.map(
        (line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`,
      )
      const plain = typeof content === 'string' ? content : undefined
      const text = plain ?? $text ?? lines?.join('') ?? JSON.stringify(content, null, 2)
      const filled = this.#filled(text)
      await writeFile(file, filled)
      this.#given.set(relative(this.#home, file), filled)
    }
    if ($mode) await chmod(file, Number.parseInt($mode, 8))
    if ($age) {
      const then = new Date(Date.now() - offsetMs($age))
      await utimes(file, then, then)
    }
  }

  async #writePlugin(name, plugin) {
    this.#plugins[name] = plugin
    if (plugin === null) delete this.#plugins[name]
    const { language, speaksAll } = this.#host
    const written = speaksAll ? language : (plugin?.language ?? language)
    const root = join(this.#home, 'plugins')
    await writePlugin(root, join(this.#directory, 'calls'), written, name, plugin)
  }

  /** The files of the home, plugins and links to packages aside. */
  async #files() {
    if (!existsSync(this.#home)) return []
    const entries = await readdir(this.#home, { recursive: true, withFileTypes: true })
    return entries
      .filter((entry) => !entry.isDirectory())
      .map((entry) => relative(this.#home, join(entry.parentPath ?? entry.path, entry.name)))
      .filter((path) => !path.startsWith('plugins/'))
      .sort()
  }

  /** Makes all of the home older: instants in files, names of days, times of change. */
  async #pass(ms) {
    const paths = await this.#files()
    this.#meet(await this.#left())
    this.#labels.pass(ms)
    for (const path of paths) {
      const file = join(this.#home, path)
      const { mtimeMs, mode } = await stat(file)
      const text = await readFile(file, 'utf8')
      const older = text
        .replaceAll(INSTANT, (at) => new Date(Date.parse(at) - ms).toISOString())
        .replaceAll(RUN, (run) => runAt(run, -ms))
      if (older !== text) await writeFile(file, older, { mode })
      const then = new Date(mtimeMs - ms)
      await lutimes(file, then, then)
      const name = path
        .replaceAll(RUN, (run) => runAt(run, -ms))
        .replace(/\d{4}-\d\d-\d\d(?=\.jsonl$)/, (day) =>
          new Date(Date.parse(day) - Math.floor(ms / DAY) * DAY).toISOString().slice(0, 10),
        )
      if (name !== path) await rename(file, join(this.#home, name))
      if (this.#given.get(path) === text) this.#given.set(name, older)
    }
  }

  /** An argument, with what only the home knows: `{{event:-1}}` is the id of its last event, `{{run:1}}` of the first run. */
  async #argument(word) {
    let filled = this.#filled(word)
    for (const [hole, place] of word.matchAll(/\{\{event:(-?\d+)\}\}/g)) {
      const lines = (await readFile(join(this.#home, 'state', 'events.jsonl'), 'utf8')).split('\n')
      filled = filled.replace(hole, JSON.parse(lines.slice(0, -1).at(Number(place))).event_id)
    }
    return filled.replaceAll(/\{\{run:(\d+)\}\}/g, (_, number) => this.#labels.run(number))
  }

  async #run({ run, exit, env = {}, input, signal, when, background }) {
    const args = []
    for (const word of words(run)) args.push(await this.#argument(word))
    if (['advance', 'run'].includes(args[0])) args.push(...(this.#host.options ?? []))
    // So that no two steps have an instant in common.
    await wait(2)
    const step = this.#labels.began()
    const { command, args: first = [], env: own = {} } = this.#host
    const child = spawn(command, [...first, ...args], {
      cwd: this.#directory,
      env: {
        PATH: process.env.PATH,
        HOME: this.#directory,
        TZ: 'UTC',
        LANG: 'C.UTF-8',
        WARPLINE_HOME: this.#home,
        ...own,
        ...this.#scenario.env,
        ...env,
      },
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    })
    if (input !== undefined) child.stdin.end(input)
    const said = { stdout: '', stderr: '' }
    for (const stream of ['stdout', 'stderr']) {
      child[stream].setEncoding('utf8')
      child[stream].on('data', (chunk) => {
        said[stream] += chunk
      })
    }
    const closed = once(child, 'close')
    const end = async () => {
      const limit = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS)
      const [code, killed] = await closed
      clearTimeout(limit)
      this.#labels.ended(step)
      this.#labels.meet(`${said.stdout}\n${said.stderr}`)
      const now = Date.now()
      this.#told.push({ run: words(run).join(' '), code: killed ?? code, exit, now, ...said })
    }
    if (when) {
      const called = [when].flat().map((name) => join(this.#directory, 'calls', name))
      while (!called.every(existsSync) && child.exitCode === null) await wait(5)
    }
    if (background) {
      this.#background = end
      return
    }
    if (signal) {
      child.kill(signal)
    }
    await end()
  }

  /** Throws where two facts that one rule says are one differ: `[file, path, path]`. */
  async #compare([file, ...paths]) {
    const document = JSON.parse(await readFile(join(this.#home, file), 'utf8'))
    const [left, right] = paths.map((path) =>
      path.split('.').reduce((at, key) => at[key], document),
    )
    if (left !== right) throw new Error(`${paths.join(' and ')} differ: ${left}, ${right}`)
  }

  async #step(step) {
    if (step.pass) await this.#pass(offsetMs(step.pass))
    for (const [path, content] of Object.entries(step.write ?? {})) await this.#write(path, content)
    for (const [name, plugin] of Object.entries(step.plugins ?? {})) {
      await this.#writePlugin(name, plugin)
    }
    for (const [path, [from, to]] of Object.entries(step.replace ?? {})) {
      const file = join(this.#home, path)
      const text = await readFile(file, 'utf8')
      if (!text.includes(from)) throw new Error(`${path} does not hold ${from}`)
      const replaced = text.replace(from, () => this.#filled(to))
      await writeFile(file, replaced)
      this.#given.set(path, replaced)
    }
    if (step.run !== undefined) await this.#run(step)
    if (step.join) {
      await writeFile(join(this.#directory, 'calls', 'go'), '')
      await this.#background()
    }
    if (step.same) await this.#compare(step.same)
  }

  async play() {
    for (const [path, content] of Object.entries(this.#scenario.home ?? {})) {
      await this.#write(path, content)
    }
    if (!this.#scenario.no_plugins) await mkdir(join(this.#home, 'plugins'), { recursive: true })
    for (const [name, plugin] of Object.entries(this.#plugins))
      await this.#writePlugin(name, plugin)
    for (const step of this.#scenario.steps) await this.#step(step)
  }

  #settled(text, now) {
    return this.#labels.settle(text, now).replaceAll(this.#directory, '<dir>')
  }

  /** What a command said. Durations are rounded away; what else goes is what one language says and another does not. */
  #said(text, now) {
    return this.#settled(text, now)
      .replaceAll(/\(\d+ ms\)/g, '(<ms> ms)')
      .replaceAll(/: \d+ ms, (\d+ attempt)/g, ': <ms> ms, $1')
      .replaceAll(/(process:? )\d+/g, '$1<pid>')
      .replaceAll(this.#host.stack ?? /(?!)/g, '')
      .replaceAll(this.#host.place ?? /(?!)/g, '')
      .replaceAll(KNOWN_BY, '')
  }

  async #left() {
    const files = []
    for (const path of await this.#files()) {
      const file = join(this.#home, path)
      const link = await readlink(file).catch(() => null)
      const text = link === null ? await readFile(file, 'utf8') : `-> ${link}`
      const mode = (await stat(file)).mode & 0o777
      files.push({ path, text, mode: path === '.session-approval' ? mode.toString(8) : null })
    }
    return files
  }

  /** Names made by chance get theirs in the order of time. */
  #meet(files) {
    const began = ({ path, text }) =>
      path === 'state/events.jsonl' ? '0' : (/"started_at": "([^"]*)"/.exec(text)?.[1] ?? '1')
    const inOrder = [...files].sort((left, right) => (began(left) < began(right) ? -1 : 1))
    for (const { path, text } of inOrder) this.#labels.meet(`${path}\n${text}`)
  }

  /** All that is compared: one text. */
  async account() {
    const files = await this.#left()
    this.#meet(files)
    const commands = this.#told.map(({ run, code, now, stdout, stderr }) => {
      const parts = [`$ warpline ${run}\nexit ${code}\n`]
      if (stdout) parts.push(this.#said(stdout, now))
      const aside = this.#said(stderr, now)
      if (aside) parts.push(`--- stderr\n${aside}`)
      return parts.map(ended).join('')
    })
    const kept = files.map(({ path, text, mode }) => {
      const name = this.#labels.settlePath(path)
      return `=== ${name}${mode === null ? '' : ` (mode ${mode})`}\n${ended(this.#settled(this.#own(text)))}`
    })
    const calls = join(this.#directory, 'calls')
    const called = existsSync(calls) ? (await readdir(calls)).sort() : []
    const times = []
    for (const name of called) {
      const { size } = await stat(join(calls, name))
      times.push(`=== called: ${name}${name.endsWith('.aborted') ? '' : ` ${size}`}\n`)
    }
    return [...commands, ...kept.sort(), ...times].join('')
  }

  /** The files of the home that a host has written, each with what the scenario had put there. */
  async written() {
    const files = await this.#left()
    return files
      .map(({ path, text }) => ({ path, text, given: this.#given.get(path) ?? '' }))
      .filter(({ text, given }) => text !== given)
  }

  /** A file without what its host alone says. */
  #own(text) {
    return text.replaceAll(this.#host.place ?? /(?!)/g, '')
  }

  /** How the commands ended that should have ended otherwise. */
  faults() {
    return this.#told
      .filter(({ code, exit }) => code !== exit)
      .map(({ run, code, exit, stderr }) => `\`${run}\` ended with ${code}, not ${exit}: ${stderr}`)
  }
}

/** Text that ends in a newline, and says where it did not. */
function ended(text) {
  return text.endsWith('\n') || text === '' ? text : `${text}\n\\ no newline\n`
}

/** Plays the scenario of this text: {faults, account, written, isLate}. */
export async function play(source, host) {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'warpline-scenario-')))
  // A day must not end between two steps.
  const left = DAY - (Date.now() % DAY)
  if (left < LONGEST) await wait(left + 1)
  const began = Date.now()
  try {
    const playing = new Playing(JSON.parse(source), source, host, directory)
    await playing.play()
    return {
      faults: playing.faults(),
      account: await playing.account(),
      written: await playing.written(),
      // Whether what a command says of ages may be a minute off.
      isLate: Date.now() - began >= MINUTE,
    }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
