// Packs the engine that `make build` made, debug information and all, and runs every test of the artefacts that asks for no release.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { account, npmDir, run } from '../../support.mjs'

const folder = fileURLToPath(new URL('.', import.meta.url))
const files = readdirSync(folder).filter(
  (file) => file.endsWith('.test.mjs') && file !== 'release.test.mjs',
)
const dist = mkdtempSync(join(tmpdir(), 'warpline-dist-'))
try {
  const library = join(npmDir, 'native', 'warpline.node')
  const pack = [join(npmDir, 'scripts', 'pack.js'), '--library', library]
  const packed = run(process.execPath, [...pack, '--out', join(dist, 'npm')])
  if (packed.status !== 0) throw new Error(account(packed))
  const { status } = spawnSync(
    process.execPath,
    ['--test', '--test-concurrency=2', ...files.map((file) => join(folder, file))],
    { stdio: 'inherit', env: { ...process.env, WARPLINE_DIST: dist } },
  )
  process.exitCode = status ?? 1
} finally {
  rmSync(dist, { recursive: true, force: true })
}
