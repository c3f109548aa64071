// Calls one plugin many times, through the runtime and bare: node invocations.mjs <home> <together>
// Prints JSON {floor, measured}: microseconds of each call, `together` being how many are open at once.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { invokePlugin } from '../../../npm/lib/unstable-runtime.mjs'

const CALLS = 4_000
const [home, together] = [process.argv[2], Number(process.argv[3])]
const directory = pathToFileURL(join(home, 'plugins', 'p0000/')).href
const { manifest } = await import(`${directory}manifest.mjs`)
const { handler } = await import(`${directory}handler.mjs`)
const witness = { granted: false, reason: 'no-declared-side-effects' }

async function bare() {
  return handler(manifest, {}, new AbortController().signal)
}

async function through() {
  const { result } = await invokePlugin('p0000', {}, {}, witness)
  return result
}

/** Microseconds a call, over all of them. */
async function time(call) {
  const start = performance.now()
  for (let made = 0; made < CALLS; made += together) {
    const results = await Promise.all(Array.from({ length: together }, call))
    for (const { status } of results) if (status !== 'success') throw new Error(status)
  }
  return ((performance.now() - start) * 1000) / CALLS
}

for (const call of [bare, through]) await time(call)
console.log(JSON.stringify({ floor: await time(bare), measured: await time(through) }))
