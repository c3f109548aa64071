// Shows: much configuration, and files inside the home. Every input is checked before anything is written, the notes are
// read only where the home really holds them, and a draft that somebody has worked on is never written over.
import { readFile, realpath } from 'node:fs/promises'
import { isAbsolute, join, relative, resolve } from 'node:path'
import { warplineHome } from 'warpline/lib/paths'
import type { CapabilityHandlerFn } from 'warpline/unstable-capabilities'
import { atomicWriteJson, atomicWriteText } from 'warpline/unstable-fs'
import { skillFailure, skillHandoff, skillOk } from 'warpline/unstable-result'
import { draftName, faultOf, skeleton, toBrief } from './brief.ts'

/** The text of a file, or null where there is none. `warpline/unstable-fs` reads JSON alone, and this is prose. */
async function readText(path: string, signal: AbortSignal): Promise<string | null> {
  try {
    return await readFile(path, { encoding: 'utf8', signal })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** The notes; undefined where the input names nothing that lies inside the home. Links are followed first. */
async function readNotes(home: string, path: string, signal: AbortSignal) {
  const [root, file] = await Promise.all([realpath(home), realpath(resolve(home, path))]).catch(
    () => ['', ''] as const,
  )
  const inside = relative(root, file)
  if (file === '' || inside === '' || inside.startsWith('..') || isAbsolute(inside))
    return undefined
  return (await readText(file, signal).catch(() => undefined)) ?? undefined
}

export const handler: CapabilityHandlerFn = async (manifest, args, signal) => {
  const failure = { phases_failed: [manifest.name] }
  const fault = faultOf(args)
  if (fault) return skillFailure('parse_error', fault, failure)
  const home = warplineHome()
  let notes: string | null = null
  if (args.notes_path !== undefined) {
    const found = await readNotes(home, args.notes_path as string, signal)
    signal.throwIfAborted()
    if (found === undefined) {
      const message = 'input `notes_path` must name a text file inside the home'
      return skillFailure('data_missing', message, failure)
    }
    notes = found
  }

  const brief = toBrief(args, notes)
  const draft = join('drafts', draftName(brief))
  const path = join(home, draft)
  const fields = {
    phases_completed: [manifest.name],
    data_freshness: { brief: new Date().toISOString() },
    artifacts_produced: [{ type: 'draft', path }],
    reversible: true,
    undo_instruction: `delete ${draft} of the home`,
  }
  const there = await readText(path, signal)
  if (there !== null && there !== skeleton(brief)) return skillOk('the draft is written', fields)
  signal.throwIfAborted()
  if (there === null) await atomicWriteText(path, skeleton(brief))
  const context = `state/${manifest.name}.json`
  await atomicWriteJson(join(home, context), { draft, brief })
  return skillHandoff('write the draft as its brief says', context, fields)
}
