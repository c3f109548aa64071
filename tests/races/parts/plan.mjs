// What the lanes of a round do, and which of it is killed: drawn from the seed, before anything runs.
import { effectful, fleet, supervised } from './fleet.mjs'

const LANES = 5
const OPERATIONS = 4

/** How many of a hundred operations are of a kind. */
const SHARES = {
  'node host': 12,
  'python host': 12,
  advance: 18,
  run: 6,
  approve: 16,
  deny: 8,
  'deny --remove': 7,
  revoke: 4,
  ack: 4,
  defer: 4,
  done: 4,
  forget: 5,
}

/** Numbers in [0, 1) that follow from the seed alone. */
export function chance(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The lanes of one round: lists of `{id, kind, by, names, args, stop}`, where `stop` is `{signal, share, acted}` or null. */
export function drawRound(round, next) {
  const pick = (list) => list[Math.floor(next() * list.length)]
  const kindOf = () => {
    let left = next() * 100
    const found = Object.entries(SHARES).find(([, share]) => {
      left -= share
      return left < 0
    })
    return found?.[0] ?? 'configure'
  }
  const names = Object.keys(fleet)
  const draw = (lane, number) => {
    const id = `${round}-${lane}-${number}`
    const kind = kindOf()
    const host = kind.endsWith('host')
    const by = host ? kind.split(' ')[0] : pick(['node', 'python'])
    const signal = kind === 'advance' && next() < 0.3 ? 'SIGTERM' : 'SIGKILL'
    const acts = host || kind === 'advance'
    const stops = next() < (acts ? 0.4 : 0.2)
    // At any moment of the usual length, or as soon as a handler has acted.
    const stop = stops ? { signal, share: next() * 1.2, acted: acts && next() < 0.5 } : null
    const operation = { id, kind, by, stop, names: [], args: [] }
    if (host) {
      operation.advances = Array.from({ length: 2 }, () => ({
        force: next() < 0.3,
        abortAfter: next() < 0.15 ? Math.floor(next() * 300) : null,
      }))
    } else if (kind === 'advance') {
      operation.force = next() < 0.3
      operation.args = ['advance', ...(operation.force ? ['--force'] : [])]
    } else if (kind === 'run') {
      operation.names = [pick(names)]
      operation.args = ['run', ...operation.names, 'now']
    } else if (kind === 'approve') {
      operation.names = pick([
        ['mail-py', 'mail-ts', 'post-ts'],
        [pick(effectful)],
        [pick(supervised)],
      ])
      operation.args = ['approve', ...operation.names]
    } else if (kind === 'deny' || kind === 'deny --remove' || kind === 'forget') {
      operation.names = [pick(names)]
      operation.args = [...kind.split(' '), ...operation.names]
    } else if (kind === 'revoke') {
      operation.args = ['revoke']
    } else if (kind === 'configure') {
      operation.names = ['tune-py']
      operation.value = id
      operation.args = ['configure', 'tune-py', '--from', JSON.stringify({ level: id })]
    } else {
      // Each has a notice or a task of its own, which `prepare` puts into the home.
      operation.target = `${kind}-${id}`
      operation.args = [kind, operation.target, ...(kind === 'defer' ? ['1d'] : [])]
    }
    if (!host) operation.args.push('--json')
    return operation
  }
  return Array.from({ length: LANES }, (_, lane) =>
    Array.from({ length: OPERATIONS }, (_, number) => draw(lane, number)),
  )
}
