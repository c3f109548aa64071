// Text of /proc in, numbers out. Every parser answers null for a text it does not recognise.

export type Load = { one: number; five: number; fifteen: number }
export type Space = { total_bytes: number; free_bytes: number }
export type Readings = {
  load: Load & { cpus: number; one_per_cpu: number }
  memory: Space & { used_percent: number }
  disk: Space & { used_percent: number }
  uptime_seconds: number
}

function decimal(text: string | undefined): number | null {
  return text !== undefined && /^\d+(\.\d+)?$/.test(text) ? Number(text) : null
}

/** `0.08 0.18 0.11 2/92 10706`: the averages over one, five and fifteen minutes. */
export function parseLoadavg(text: string): Load | null {
  const fields = text.trim().split(/\s+/)
  const [one, five, fifteen] = [decimal(fields[0]), decimal(fields[1]), decimal(fields[2])]
  return one === null || five === null || fifteen === null ? null : { one, five, fifteen }
}

/** Lines like `MemTotal:       24684092 kB`. Free is what the kernel says a new program could get. */
export function parseMeminfo(text: string): Space | null {
  const bytes = (key: string): number | null => {
    const kibibytes = new RegExp(`^${key}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1]
    return kibibytes === undefined ? null : Number(kibibytes) * 1024
  }
  return space(bytes('MemTotal'), bytes('MemAvailable'))
}

/** `841.89 1558.91`: seconds since the start, seconds spent idle. */
export function parseUptime(text: string): number | null {
  return decimal(text.trim().split(/\s+/)[0])
}

/** One line `cpu0 ...` for each processor that the load averages are spread over. */
export function parseCpus(text: string): number | null {
  return text.match(/^cpu\d+ /gm)?.length ?? null
}

/** `total_bytes free_bytes`, for a source that is not a live machine. */
export function parseDisk(text: string): Space | null {
  const fields = text.trim().split(/\s+/)
  return fields.length === 2 ? space(decimal(fields[0]), decimal(fields[1])) : null
}

/** Null for what cannot be a space: nothing at all, or more free than there is. */
export function space(total: number | null, free: number | null): Space | null {
  if (total === null || free === null || total <= 0 || free > total) return null
  return { total_bytes: total, free_bytes: free }
}

/** One decimal is as exact as a limit ever needs. */
export function usedPercent({ total_bytes, free_bytes }: Space): number {
  return Math.round((1 - free_bytes / total_bytes) * 1000) / 10
}

/** Puts the parts together and adds what is derived from them. */
export function toReadings(
  load: Load,
  cpus: number,
  memory: Space,
  disk: Space,
  uptime: number,
): Readings {
  return {
    load: { ...load, cpus, one_per_cpu: Math.round((load.one / cpus) * 100) / 100 },
    memory: { ...memory, used_percent: usedPercent(memory) },
    disk: { ...disk, used_percent: usedPercent(disk) },
    uptime_seconds: uptime,
  }
}
