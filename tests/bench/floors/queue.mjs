// The loop that is written by hand where a runtime is missing: a queue, retries, one JSON file per task.
//
// node queue.mjs <plugins> <directory>
import { mkdirSync, readdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const { resolve } = createRequire(new URL('../../../npm/package.json', import.meta.url))
const { default: PQueue } = await import(pathToFileURL(resolve('p-queue')).href)
const { default: pRetry } = await import(pathToFileURL(resolve('p-retry')).href)

const [root, directory] = process.argv.slice(2)
const base = pathToFileURL(`${root}/`).href
mkdirSync(directory, { recursive: true })

async function task(name) {
  const { manifest } = await import(`${base}${name}/manifest.ts`)
  const { handler } = await import(`${base}${name}/handler.ts`)
  const result = await handler(manifest, {}, new AbortController().signal)
  if (result.status === 'failed') throw new Error(result.summary)
  const record = { last_run_at: new Date().toISOString(), result }
  await writeFile(join(directory, `${name}.json`), JSON.stringify(record, null, 2))
}

// The fleet is in chains of ten: what depends on something comes a wave later.
const queue = new PQueue({ concurrency: 16 })
const names = readdirSync(root).sort()
for (let wave = 0; wave < 10; wave += 1) {
  for (const name of names) {
    if (Number(name.slice(1)) % 10 !== wave) continue
    queue.add(() => pRetry(() => task(name), { retries: 2 }))
  }
  await queue.onIdle()
}
