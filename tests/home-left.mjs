// What steps over a home leave behind, made comparable with what the same steps left elsewhere.
import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'

/** Replaces what differs between two runs of anything: identifiers, instants, durations. */
export function settle(text) {
  return (
    text
      .replaceAll(/\d{4}-\d\d-\d\dT\d{9}Z-[0-9a-f]{8}/g, '<run>')
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '<instant>')
      // A fingerprint of a proposal covers its Outputs, and a path in there may name the run.
      .replaceAll(/\b[0-9a-f]{64}\b/g, '<sha256>')
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uuid>')
      .replaceAll(/((?:elapsed|duration)_ms\\?":\s*)\d+/g, '$1<ms>')
  )
}

/** What a command says for people, without what differs between two runs of it: spans of time as well, for one run takes longer. */
export function spoken(text) {
  return settle(text)
    .replaceAll(/\b[\d.]+ m?s\b/g, '<time>')
    .replaceAll(/\bjust now\b|<1m\b|\b\d+m\b(?: ago)?|\b1h \d+m\b|\b2h\b/g, '<span>')
    .replaceAll(/\b(\d+h) \d+m\b/g, '$1 <span>')
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d [+-]\d\d:\d\d/g, '<local>')
}

/** Every file of a home as settled text, its path in the first line. Two runs must use one path: it is in the files. */
export async function homeLeft(home) {
  const entries = await readdir(home, { recursive: true, withFileTypes: true })
  const files = []
  let days = ''
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
  for (const path of paths.sort()) {
    const name = relative(home, path)
    const text = settle(await readFile(path, 'utf8'))
    if (/\d{4}-\d\d-\d\d\.jsonl$/.test(name)) days += text
    else files.push([settle(name), text])
  }
  // A day may end between two steps.
  if (days !== '') files.push(['logs/runs/<day>.jsonl', days])
  // Several run logs have one settled name; their text puts them in order.
  return files.map((file) => file.join('\n')).sort()
}
