// The fleet of a race, in both languages: each handler leaves a line outside of the home when it acts.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Shorter than a round, so that plugins are due again; long enough that many advances meet them fresh. */
export const TTL_MS = 1500

/** By name: the manifest beyond its plain part, and the language. No Output anywhere: a denial then answers one proposal for good. */
export const fleet = {
  'mail-py': { language: 'python', side_effects: ['sends_email'], ttl_hours: TTL_MS / 3_600_000 },
  'mail-ts': { language: 'node', side_effects: ['sends_email'], ttl_hours: TTL_MS / 3_600_000 },
  'page-py': { language: 'python', side_effects: ['modifies_file'], autonomy_level: 'supervised' },
  'page-ts': { language: 'node', autonomy_level: 'supervised' },
  'post-ts': { language: 'node', side_effects: ['external_api'], dependencies: ['mail-py'] },
  'tune-py': { language: 'python', inputs: { level: { type: 'string', required: false } } },
}

export const effectful = Object.keys(fleet).filter((name) => fleet[name].side_effects)
export const supervised = Object.keys(fleet).filter((name) => fleet[name].autonomy_level)
/** Without a dependency that makes them due before their time. */
export const timed = ['mail-py', 'mail-ts']

const handlers = {
  node: `import { appendFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import type { CapabilityHandlerFn } from 'warpline/unstable-capabilities'
import { skillOk } from 'warpline/unstable-result'

export const handler: CapabilityHandlerFn = async (_manifest, _args, _signal, { caller }) => {
  const { RACE_EFFECTS, RACE_OPERATION: operation } = process.env
  const line = { operation, plugin: caller.plugin, run: caller.runId, at: Date.now() }
  appendFileSync(RACE_EFFECTS!, JSON.stringify(line) + '\\n')
  await setTimeout(30)
  return skillOk('acted')
}
`,
  python: `import json
import os
import time

from warpline import skill_ok


def handler(manifest, args, signal, capabilities):
    caller = capabilities.caller
    line = {
        "operation": os.environ["RACE_OPERATION"],
        "plugin": caller.plugin,
        "run": caller.run_id,
        "at": int(time.time() * 1000),
    }
    with open(os.environ["RACE_EFFECTS"], "ab", buffering=0) as file:
        file.write(json.dumps(line).encode() + b"\\n")
    time.sleep(0.03)
    return skill_ok("acted")
`,
}

export async function writeFleet(home) {
  await writeFile(`${home}-effects.jsonl`, '')
  for (const [name, { language, ...fields }] of Object.entries(fleet)) {
    const directory = join(home, 'plugins', name)
    await mkdir(directory, { recursive: true })
    const plain = { version: '1.0.0', description: 'acts', autonomy_level: 'autonomous' }
    const manifest = JSON.stringify({ name, ...plain, ttl_hours: 1, ...fields }, null, 2)
    const python = manifest.replaceAll('true', 'True').replaceAll('false', 'False')
    const [ending, text] =
      language === 'node'
        ? ['ts', `export const manifest = ${manifest}\n`]
        : ['py', `manifest = ${python}\n`]
    await writeFile(join(directory, `manifest.${ending}`), text)
    await writeFile(join(directory, `handler.${ending}`), handlers[language])
  }
}
