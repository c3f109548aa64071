// Shows: work that only a person starts. No advance reaches it, with or without a profile; what it needs is typed on the
// command line, where every value is text, and its words go into a file and nowhere else.
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { warplineHome } from 'warpline/lib/paths'
import type { CapabilityHandlerFn } from 'warpline/unstable-capabilities'
import { atomicWriteText } from 'warpline/unstable-fs'
import { skillFailure, skillOk } from 'warpline/unstable-result'
import { faultOf, noteName, noteText } from './note.ts'

export const handler: CapabilityHandlerFn = async (manifest, args, signal) => {
  const [text, tag] = [args.text as string, args.tag as string]
  const fault = faultOf(args.action, text, tag)
  if (fault) return skillFailure('parse_error', fault, { phases_failed: [manifest.name] })
  const path = join(warplineHome(), 'inbox', noteName(text))
  const there = await access(path).then(
    () => true,
    () => false,
  )
  signal.throwIfAborted()
  const now = new Date().toISOString()
  if (!there) await atomicWriteText(path, noteText(text, tag, now))
  return skillOk(there ? 'this note was there before' : 'note filed', {
    phases_completed: [manifest.name],
    data_freshness: { note: now },
    artifacts_produced: [{ type: 'note', path }],
    reversible: true,
    undo_instruction: `delete inbox/${noteName(text)} of the home`,
  })
}
