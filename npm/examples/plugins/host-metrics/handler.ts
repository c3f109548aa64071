// Shows: reading a machine. Nothing is written and nothing declared; where the readings come from is an input, so that a test
// supplies fixed ones, and a file that cannot be read is named by its input, never by its path.
import { readFile, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { CapabilityHandlerFn } from 'warpline/unstable-capabilities'
import { skillFailure, skillOk } from 'warpline/unstable-result'
import {
  parseCpus,
  parseDisk,
  parseLoadavg,
  parseMeminfo,
  parseUptime,
  type Space,
  space,
  toReadings,
} from './readings.ts'

// What stops this plugin without being its fault: it becomes a failed result, anything else is thrown on.
class NoReading extends Error {
  readonly code: 'data_missing' | 'parse_error'
  readonly absent: boolean
  constructor(code: 'data_missing' | 'parse_error', message: string, absent = false) {
    super(message)
    this.code = code
    this.absent = absent
  }
}

// Names the file and the input, never the directory: that is what an operator configured, and a result ends up in logs.
function missing(what: string, error: unknown): Error {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  // Only the system's own refusals are about the data; an abort is the runtime's to classify.
  return typeof code === 'string' && /^E[A-Z]+$/.test(code)
    ? new NoReading('data_missing', `${what} cannot be read (${code})`, code === 'ENOENT')
    : (error as Error)
}

async function read<T>(
  source: string,
  file: string,
  parse: (text: string) => T | null,
  signal: AbortSignal,
): Promise<T> {
  const what = `file \`${file}\` of input \`source\``
  let text: string
  try {
    text = await readFile(join(source, file), { encoding: 'utf8', signal })
  } catch (error) {
    throw missing(what, error)
  }
  const value = parse(text)
  if (value === null) throw new NoReading('parse_error', `${what} is not in the layout of /proc`)
  return value
}

async function readDisk(source: string, path: string, signal: AbortSignal): Promise<Space> {
  const fixed = await read(source, 'disk', parseDisk, signal).catch((error: unknown) => {
    if (error instanceof NoReading && error.absent) return null
    throw error
  })
  if (fixed !== null) return fixed
  const stats = await statfs(path).catch((error: unknown) => {
    throw missing('input `disk_path`', error)
  })
  const measured = space(stats.blocks * stats.bsize, stats.bavail * stats.bsize)
  if (measured === null)
    throw new NoReading('data_missing', 'input `disk_path` is on a file system without a size')
  return measured
}

export const handler: CapabilityHandlerFn = async (manifest, args, signal) => {
  const source = args.source as string // the runtime checked both against the manifest
  const diskPath = args.disk_path as string
  try {
    const [load, cpus, memory, disk, uptime] = await Promise.all([
      read(source, 'loadavg', parseLoadavg, signal),
      read(source, 'stat', parseCpus, signal),
      read(source, 'meminfo', parseMeminfo, signal),
      readDisk(source, diskPath, signal),
      read(source, 'uptime', parseUptime, signal),
    ])
    const readings = toReadings(load, cpus, memory, disk, uptime)
    return skillOk(
      `load ${readings.load.one}, memory ${readings.memory.used_percent} %, disk ${readings.disk.used_percent} % used`,
      {
        phases_completed: [manifest.name],
        data_freshness: { readings: new Date().toISOString() },
        artifacts_produced: [
          { type: 'host-metrics', format: 'json', body: JSON.stringify(readings) },
        ],
      },
    )
  } catch (error) {
    if (error instanceof NoReading)
      return skillFailure(error.code, error.message, { phases_failed: [manifest.name] })
    throw error
  }
}
