// Gives what differs between two runs of a scenario a name that does not: instants, days, clocks, identifiers, durations.

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const UNITS = { s: 1000, m: MINUTE, h: HOUR, d: DAY }

/** Milliseconds of `-90m`, `+1h30m`, `7d`. */
export function offsetMs(text) {
  const [, sign, spans] = /^([+-]?)((?:\d+[smhd])*)$/.exec(text) ?? raise(`no span: ${text}`)
  const sum = [...spans.matchAll(/(\d+)([smhd])/g)].reduce(
    (ms, [, number, unit]) => ms + Number(number) * UNITS[unit],
    0,
  )
  return sign === '-' ? -sum : sum
}

function raise(message) {
  throw new Error(message)
}

/** The text of a signed span, as `-1d2h`; nothing for none. */
function spanText(ms) {
  const size = Math.abs(ms)
  const parts = [
    [Math.floor(size / DAY), 'd'],
    [Math.floor((size % DAY) / HOUR), 'h'],
    [Math.floor((size % HOUR) / MINUTE), 'm'],
    [Math.floor((size % MINUTE) / 1000), 's'],
  ]
  const said = parts.filter(([number]) => number > 0).map(([number, unit]) => `${number}${unit}`)
  return said.length === 0 ? '' : `${ms < 0 ? '-' : '+'}${said.join('')}`
}

export const INSTANT = /[+-]?\d{4,6}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g
export const RUN = /\b\d{4}-\d\d-\d\dT\d{9}Z-[0-9a-f]{8}\b/g

/** The id that a run would have had that much later. */
export function runAt(run, ms) {
  const [, day, hour, minute, second, rest] = /^(.{10}T)(\d\d)(\d\d)(\d\d)(\d{3}Z)/.exec(run)
  const iso = `${day}${hour}:${minute}:${second}.${rest}`
  return runId(Date.parse(iso) + ms) + run.slice(-9)
}

function runId(ms) {
  return new Date(ms).toISOString().replaceAll(/[:.]/g, '')
}

const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g
const LOCAL = /\b\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)? \+00:00/g

const HOLE = /\{\{(?:(day|clock|run) )?([+-][\dsmhd]+|now)(?: ([0-9a-f]))?\}\}/g

/**
 * The time of one scenario. It starts now; `pass` makes all that was longer ago.
 *
 * `given` is the text of the scenario: what is written out in there keeps its letters.
 */
export class Labels {
  #given
  #start = Date.now()
  #startOfDay = Math.floor(this.#start / DAY) * DAY
  /** How far the instants that the scenario puts in are from the start. */
  #spans = new Set()
  #clocks = new Map()
  /** When each step began and ended, as the home tells it now. */
  #steps = []
  #runs = new Map()
  #ids = new Map()

  constructor(given) {
    this.#given = given
  }

  /** Puts instants, days and clocks into a text of the scenario. */
  fill(text) {
    return text.replaceAll(HOLE, (_, kind, span, mark) => {
      const ms = span === 'now' ? 0 : offsetMs(span)
      if (kind === 'run') {
        const run = `${runId(this.#start + ms)}-0000000${mark ?? '0'}`
        this.#runs.set(run, `<run ${span}${mark ? ` ${mark}` : ''}>`)
        return run
      }
      if (kind === 'day') return new Date(this.#startOfDay + ms).toISOString().slice(0, 10)
      const iso = new Date(this.#start + ms).toISOString()
      if (kind !== 'clock') {
        this.#spans.add(ms)
        return iso
      }
      this.#clocks.set(iso.slice(11, 16), `<clock ${span}>`)
      return iso.slice(11, 16)
    })
  }

  /** Moves everything that has happened into the past. */
  pass(ms) {
    this.#start -= ms
    this.#startOfDay -= Math.floor(ms / DAY) * DAY
    for (const step of this.#steps) {
      step.from -= ms
      step.to -= ms
    }
    for (const [run, name] of [...this.#runs]) this.#runs.set(runAt(run, -ms), name)
  }

  began() {
    const step = { from: Date.now(), to: Number.POSITIVE_INFINITY }
    this.#steps.push(step)
    return step
  }

  ended(step) {
    step.to = Date.now()
  }

  /** Gives names to the identifiers in a text that have none yet, in the order they stand there. */
  meet(text) {
    for (const [run] of text.matchAll(RUN)) this.#name(this.#runs, run, 'run')
    for (const [id] of text.matchAll(UUID)) this.#name(this.#ids, id, 'id')
  }

  #name(names, id, kind) {
    if (names.has(id) || this.#given.includes(id)) return
    names.set(id, `<${kind} ${new Set(names.values()).size + 1}>`)
  }

  /** The id of the run with this number, as the home has it now. */
  run(number) {
    const known = [...this.#runs].filter(([, name]) => name === `<run ${number}>`)
    return known.at(-1)[0]
  }

  #instant(text) {
    if (this.#given.includes(text)) return text
    const at = Date.parse(text)
    const fromStart = at - this.#start
    // No step is as long as a minute, so that none of its instants is a whole number of them away.
    if (this.#spans.has(fromStart) || fromStart % MINUTE === 0) {
      return `<start${spanText(fromStart)}>`
    }
    const step = this.#steps.findIndex(({ from, to }) => from <= at && at <= to)
    if (step >= 0) return `<step ${step + 1}>`
    for (const [index, { from, to }] of this.#steps.entries()) {
      const minutes = Math.floor((at - from) / MINUTE)
      if (at - minutes * MINUTE <= to) return `<step ${index + 1}${spanText(minutes * MINUTE)}>`
    }
    throw new Error(`no step of this scenario explains the instant ${text}`)
  }

  /** An instant to the minute in a text for people, told to the half hour from what was then the present. */
  #local(text, now) {
    const passed = Date.parse(text.replace(' ', 'T').replace(' ', '')) - now
    return `<about now${spanText(Math.round(passed / (HOUR / 2)) * (HOUR / 2))}>`
  }

  /** A text with names in it; `now` is when it was said. */
  settle(text, now = Date.now()) {
    let settled = text
      .replaceAll(INSTANT, (instant) => this.#instant(instant))
      .replaceAll(LOCAL, (local) => this.#local(local, now))
      .replaceAll(RUN, (run) => this.#runs.get(run) ?? run)
      .replaceAll(UUID, (id) => this.#ids.get(id) ?? id)
      .replaceAll(/("(?:elapsed|duration)_ms\\?":\s*)\d+(?:\.\d+)?/g, '$1<ms>')
    for (const [id, name] of this.#ids) {
      settled = settled.replaceAll(new RegExp(`(?<![\\w-])${id.slice(0, 8)}(?![\\w-])`, 'g'), name)
    }
    for (const [clock, name] of this.#clocks) settled = settled.replaceAll(clock, name)
    return settled
  }

  /** The name of a day's file. */
  settlePath(path) {
    return this.settle(path).replace(/\d{4}-\d\d-\d\d(?=\.jsonl$)/, (day) =>
      this.#given.includes(day) ? day : `<day${spanText(Date.parse(day) - this.#startOfDay)}>`,
    )
  }
}
