// Advances a home from a queue of BullMQ, whose scheduler and worker are in this process.
//
//   REDIS_URL=redis://127.0.0.1:6379 node bullmq.mjs --home /srv/monitor/.warpline --cron '*/15 * * * *'
import { Queue, Worker } from 'bullmq'
import Redis from 'ioredis'
import { alert, oneAdvance, prepare } from './one-advance.mjs'

const { signal, cron: pattern } = prepare()
const url = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379'
// Queues of workers need a connection that waits for Redis for ever.
const connect = () => new Redis(url, { maxRetriesPerRequest: null })
const [forQueue, forWorker] = [connect(), connect()]

const queue = new Queue('warpline', { connection: forQueue })
// One scheduler, however many processes upsert it.
await queue.upsertJobScheduler(
  'advance',
  { pattern },
  // Retries are warpline's: a job has one attempt, and only the newest are kept.
  { name: 'advance', opts: { attempts: 1, removeOnComplete: 100, removeOnFail: 100 } },
)

const worker = new Worker(
  'warpline',
  async () => {
    const status = await oneAdvance(signal)
    if (!['complete', 'busy'].includes(status)) throw new Error(`the advance ended ${status}`)
    return status
  },
  { connection: forWorker, concurrency: 1 },
)
worker.on('error', (error) => alert(`the queue: ${error.message}`))

signal.addEventListener('abort', async () => {
  // Waits for the job that runs, which the signal has told to end.
  await worker.close()
  await queue.close()
  await Promise.all([forQueue.quit(), forWorker.quit()])
  console.log('stopped')
})
