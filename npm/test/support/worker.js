// A worker thread that answers with its home.

import { parentPort } from 'node:worker_threads'

import { warplineHome } from '../../lib/paths.js'

parentPort?.postMessage(warplineHome())
