// What a type of the manifest cannot say about a list and an object, and who still has to be told.
import { createHash } from 'node:crypto'

export type Channel = { name: string; path: string }
/** The digest that was sent last, and the channels that have it. */
export type Told = { digest: string; channels: string[] }

function isChannel(value: unknown): value is Channel {
  if (typeof value !== 'object' || value === null) return false
  const { name, path } = value as Record<string, unknown>
  return (
    typeof name === 'string' &&
    /^[a-z][a-z0-9-]{0,39}$/.test(name) &&
    typeof path === 'string' &&
    // One of this server: a second slash would begin the name of another.
    /^\/[^/\\\s][^\\\s]{0,199}$/.test(path)
  )
}

/** The channels, or the shape that the input must have. */
export function toChannels(value: unknown): Channel[] | string {
  const shape = 'input `channels` must hold 1 to 20 of {name, path}'
  if (!Array.isArray(value) || value.length === 0 || value.length > 20) return shape
  const wrong = value.findIndex((each) => !isChannel(each))
  if (wrong !== -1) return `${shape}; position ${wrong + 1} is none`
  const names = new Set(value.map(({ name }) => name))
  return names.size === value.length ? value : `${shape}, each with a name of its own`
}

/** The labels, or the shape that the input must have. */
export function toLabels(value: unknown): Record<string, string> | string {
  const labels = Object.entries((value ?? {}) as Record<string, unknown>)
  const fit =
    labels.length <= 20 &&
    labels.every(
      ([key, text]) =>
        /^[a-z][a-z0-9_]{0,39}$/.test(key) && typeof text === 'string' && text.length <= 200,
    )
  return fit
    ? (Object.fromEntries(labels) as Record<string, string>)
    : 'input `labels` must hold at most 20 texts of at most 200 characters, under lower-case keys'
}

/** The record of the run before: nothing yet, or null for a file that this plugin did not write. */
export function toTold(value: unknown): Told | null {
  if (value === null) return { digest: '', channels: [] }
  const { digest, channels } = (value ?? {}) as Record<string, unknown>
  return typeof digest === 'string' &&
    Array.isArray(channels) &&
    channels.every((each) => typeof each === 'string')
    ? { digest, channels }
    : null
}

/** The same text is the same digest, whichever run made it. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
