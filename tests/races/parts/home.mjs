// The home of a race between two rounds, while nothing runs: what it holds, and tasks and notices put in by hand.
import { appendFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'

const json = async (path, otherwise) => {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (error) {
    if (error.code === 'ENOENT') return otherwise
    throw error
  }
}

const lines = async (path) => {
  const text = await readFile(path, 'utf8').catch(() => '')
  return text.split('\n').filter((line) => line !== '')
}

const parsed = (text) => {
  try {
    return [JSON.parse(text)]
  } catch {
    return []
  }
}

/** Documents of the home as they lie on the disk. */
export async function readHome(home) {
  const grant = await json(join(home, '.session-approval'), null)
  const live = grant && Date.parse(grant.expires_at) > Date.now()
  const daily = join(home, 'logs', 'runs')
  const days = await readdir(daily).catch(() => [])
  const logged = await Promise.all(days.map((day) => lines(join(daily, day))))
  return {
    state: await json(join(home, 'state', 'engine-state.json'), {}),
    scopes: live ? grant.scopes : [],
    acknowledgements: await json(join(home, 'state', 'acknowledgements.json'), {}),
    level: (await json(join(home, 'config', 'tune-py.json'), {})).level,
    events: (await lines(join(home, 'state', 'events.jsonl'))).flatMap(parsed),
    logged: logged.flat().flatMap(parsed),
    effects: (await lines(`${home}-effects.jsonl`)).map((line) => JSON.parse(line)),
    runLog: (run) => json(join(home, 'runs', `${run}.json`), null),
  }
}

/** What lies in the home that should not: documents that do not parse, torn lines past one for each kill, locks, leftovers. */
export async function faultsOfFiles(home, kills) {
  const faults = []
  let torn = 0
  let leftovers = 0
  const entries = await readdir(home, { recursive: true, withFileTypes: true })
  for (const entry of entries.filter((each) => each.isFile())) {
    const path = join(entry.parentPath ?? entry.path, entry.name)
    const name = relative(home, path)
    if (name.startsWith('plugins/')) continue
    if (name.endsWith('.tmp')) {
      leftovers += 1
    } else if (/lock$|in-flight/.test(name)) {
      faults.push(`${name} is there although nothing runs`)
    } else if (name.endsWith('.jsonl')) {
      torn += (await lines(path)).filter((line) => parsed(line).length === 0).length
    } else if (name.endsWith('.json') || name === '.session-approval') {
      if (parsed(await readFile(path, 'utf8')).length === 0) faults.push(`${name} does not parse`)
    }
  }
  if (torn > kills) faults.push(`${torn} lines do not parse after ${kills} kills`)
  if (leftovers > kills) faults.push(`${leftovers} temporary files after ${kills} kills`)
  return faults
}

/** Gives each `done` and `defer` of the lanes its task, and each `ack` its notice. */
export async function prepare(home, lanes) {
  const path = join(home, 'state', 'engine-state.json')
  await mkdir(join(home, 'state'), { recursive: true })
  const state = await json(path, {})
  const at = new Date().toISOString()
  const operations = lanes.flat().filter(({ target }) => target !== undefined)
  const task = ({ target }) => ({
    task_id: target,
    first_flagged: at,
    description: 'look at it',
    severity: 'info',
    run_count: 1,
    clean_streak: 0,
    last_detail: 'seen',
    source_check: 'nobody',
    first_run_id: null,
    last_flagged_run_id: null,
    action_type: 'self_directed',
    due_date: null,
    extensions: {},
  })
  const notice = ({ target }) => ({
    event_id: target,
    type: 'notice',
    timestamp: at,
    source: 'nobody',
    summary: 'look at it',
    severity: 'info',
    task_id: null,
    run_id: null,
    metadata_json: null,
  })
  // The tasks of earlier rounds were looked at, and would only make the document longer.
  state.task_aging = operations.filter(({ kind }) => kind !== 'ack').map(task)
  state.deferrals = []
  state.completed_tasks = []
  await writeFile(path, `${JSON.stringify(state, null, 2)}\n`)
  const notices = operations.filter(({ kind }) => kind === 'ack').map(notice)
  const text = notices.map((each) => `${JSON.stringify(each)}\n`).join('')
  // A killed writer may have left half a line.
  await appendFile(join(home, 'state', 'events.jsonl'), `\n${text}`)
}
