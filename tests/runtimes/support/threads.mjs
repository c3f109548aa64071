// Ends a thread in the middle of an advance while its sibling works on, and prints what came of it as JSON.
//
// Argument: the plugin root. The home is `WARPLINE_HOME`.
import { setTimeout as delay } from 'node:timers/promises'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { runAdvance } from 'warpline'
import { invokePlugin } from 'warpline/unstable-runtime'

const TRIES_MS = 120_000

if (isMainThread) await main(process.argv[2])
else {
  const onPluginStart = (plugin) => plugin === 'waits' && parentPort.postMessage('running')
  await runAdvance({ pluginsDir: workerData, profile: 'manual', onPluginStart })
}

async function main(pluginsDir) {
  const call = async (name, options) => {
    const witness = { granted: false, reason: 'no-declared-side-effects' }
    return invokePlugin(name, {}, { pluginsDir, ...options }, witness)
  }
  const controller = new AbortController()
  const sibling = call('waits', { signal: controller.signal })
  const worker = new Worker(new URL(import.meta.url), { workerData: pluginsDir })
  await new Promise((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
  })
  await worker.terminate()
  const { result } = await call('context')
  controller.abort()
  const { cancelled } = await sibling
  const next = await advanceOnceFree(pluginsDir)
  console.log(JSON.stringify({ called: result.status, cancelled, next: next.run_log_path }))
}

/** The engine of the thread that ended still records what it knows: its lock goes when it is done. */
async function advanceOnceFree(pluginsDir) {
  const until = Date.now() + TRIES_MS
  for (;;) {
    try {
      return await runAdvance({ pluginsDir })
    } catch (error) {
      if (error.code !== 'ERR_WARPLINE_LOCKED' || Date.now() > until) throw error
      await delay(20)
    }
  }
}
