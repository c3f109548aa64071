// Advances a home from node-cron.
//
//   node node-cron.mjs --home /srv/monitor/.warpline --cron '*/15 * * * *'
import cron from 'node-cron'
import { oneAdvance, prepare } from './one-advance.mjs'

const { signal, cron: ticks } = prepare()

/** The advance that runs, or the last one. @type {Promise<unknown>} */
let last = Promise.resolve()
const task = cron.schedule(
  ticks,
  () => {
    last = oneAdvance(signal)
    return last
  },
  // A tick during an advance is left out.
  { name: 'advance', noOverlap: true },
)

signal.addEventListener('abort', async () => {
  await task.destroy()
  await last
  console.log('stopped')
})
