// Runs the fleet of WARPLINE_HOME once: node advance.mjs [concurrency]
import { runAdvance } from '../../../npm/lib/index.mjs'

const [concurrency] = process.argv.slice(2)
const { status } = await runAdvance(concurrency ? { concurrency: Number(concurrency) } : {})
console.log(status)
