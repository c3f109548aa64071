// The JSON Schemas below docs/schemas, as what tells whether a document holds to one.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { npmDir, root } from '../../support.mjs'

const { default: Ajv } = createRequire(join(npmDir, 'package.json'))('ajv/dist/2020.js')

// Unknown keywords are errors; alternatives may ask for keys that are described around them.
const ajv = new Ajv({ strictTypes: false, strictRequired: false, allErrors: true })

/** A schema by its path below docs/schemas. */
export const schema = (path) =>
  JSON.parse(readFileSync(join(root, 'docs', 'schemas', `${path}.json`), 'utf8'))

/** What tells whether a document holds to that schema; its `errors` say where it does not. */
export const validator = (path) => ajv.compile(schema(path))
