// Finds the processes that one has started, and theirs.
import { readdirSync, readFileSync } from 'node:fs'

/** The parent of every process that has not ended, by id. */
function parents() {
  const found = new Map()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
      const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      if (state !== 'Z') found.set(Number(name), Number(parent))
    } catch {
      // It has ended meanwhile.
    }
  }
  return found
}

/** All processes below one, itself included: what a test starts in a session of its own still has its parent. */
export function below(root, { leaves = false } = {}) {
  const all = parents()
  const found = new Set([root])
  for (let before = 0; before !== found.size; ) {
    before = found.size
    for (const [id, parent] of all) if (found.has(parent)) found.add(id)
  }
  const started = new Set(all.values())
  return [...found].filter((id) => all.has(id) && !(leaves && started.has(id)))
}

export function signal(id, name) {
  try {
    process.kill(id, name)
  } catch {
    // It has ended meanwhile.
  }
}
