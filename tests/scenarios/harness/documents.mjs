// Every document that a host has written into a home holds to its schema below docs/schemas/documents.
import { validator } from './schemas.mjs'

const validators = new Map()

function validatorOf(name) {
  if (!validators.has(name)) validators.set(name, validator(`documents/${name}`))
  return validators.get(name)
}

/** The files that are one document, and those of which every line is one. */
const DOCUMENTS = [
  [/^state\/engine-state\.json$/, () => 'engine-state'],
  [/^state\/last-successful-advance$/, () => 'last-successful-advance'],
  [/^state\/acknowledgements\.json$/, () => 'acknowledgements'],
  [/^\.session-approval$/, () => 'grant'],
  [/^runs\/[^/]+\.json$/, (document) => ('plugin' in document ? 'run-artifact' : 'run-log')],
]
const LINES = [
  [/^state\/events\.jsonl$/, 'board-event'],
  [/^logs\/runs\/[^/]+\.jsonl$/, 'daily-log-line'],
]

function misfit(path, name, value) {
  const validate = validatorOf(name)
  return validate(value) ? [] : [{ path, schema: name, errors: validate.errors }]
}

/** What the schemas refuse of these files; the lines that were given are no claim of the host's. */
export function misfits(files) {
  return files.flatMap(({ path, text, given }) => {
    const document = DOCUMENTS.find(([pattern]) => pattern.test(path))
    if (document) {
      const value = JSON.parse(text)
      return misfit(path, document[1](value), value)
    }
    const line = LINES.find(([pattern]) => pattern.test(path))
    if (!line) return []
    const old = new Set(given.split('\n'))
    const fresh = text.split('\n').filter((each) => each !== '' && !old.has(each))
    return fresh.flatMap((each) => misfit(path, line[1], JSON.parse(each)))
  })
}
