// What a compiler sees of the installed package: each way to resolve packages, from programs of either kind.
import assert from 'node:assert/strict'
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { account, npmDir, run } from '../../support.mjs'
import { artefacts, install } from './support.mjs'

const CONSUMER = fileURLToPath(new URL('consumer', import.meta.url))
const BOTH = ['esm.mts', 'common.cts']

// Types need no engine.
const project = await install({ files: [artefacts.main] })

for (const [version, compiler, module, moduleResolution, files] of [
  ['TypeScript 5.9', 'typescript-js', 'commonjs', 'node10', ['plain.ts']],
  ['TypeScript 5.9', 'typescript-js', 'node16', 'node16', BOTH],
  ['TypeScript 7', 'typescript', 'node16', 'node16', BOTH],
  ['TypeScript 7', 'typescript', 'nodenext', 'nodenext', BOTH],
  ['TypeScript 7', 'typescript', 'preserve', 'bundler', BOTH],
]) {
  test(`${version}: programs type-check under ${moduleResolution}`, async () => {
    const directory = join(project, `types-${compiler}-${moduleResolution}`)
    await mkdir(directory)
    await cp(CONSUMER, directory, { recursive: true })
    const options = {
      ...{ module, moduleResolution, target: 'es2022', lib: ['es2022', 'dom'], types: [] },
      ...{ strict: true, noEmit: true, skipLibCheck: false, exactOptionalPropertyTypes: true },
    }
    await writeFile(
      join(directory, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: options, files }),
    )
    const tsc = join(npmDir, 'node_modules', compiler, 'bin', 'tsc')
    const ended = run(process.execPath, [tsc, '-p', directory], { cwd: project })
    assert.equal(ended.status, 0, account(ended))
  })
}
