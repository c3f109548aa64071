// What is said where the engine does not open, from the packages as they are installed: the platform, the package that
// was expected, what the system said of the file, and what can be done.
import assert from 'node:assert/strict'
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { account, npmDir, run } from '../../support.mjs'
import { artefacts, install, offline, runProgram, target, version } from './support.mjs'

const PLATFORM = `${process.platform}-${process.arch}${target.libc ? ` with ${target.libc}` : ''}`
const BEGINNING = `error: the native engine of warpline could not be opened on ${PLATFORM}: `
const FROM_SOURCE = '`make build` in a checkout of warpline makes npm/native/warpline.node'
// Where ELF and Mach-O say which processor a file is for, and another one than this.
const PROCESSOR = { linux: [18, 'x64', 0xb7, 0x3e], darwin: [4, 'x64', 0x0c, 0x07] }

const installed = await install()
const engine = join(installed, 'node_modules', target.package, 'warpline.node')
const intact = await readFile(engine)

/** What the command says that plans: two lines. It fails and writes no report. */
function complaint(project, env = {}) {
  const command = join(project, 'node_modules', '.bin', 'warpline')
  const ended = run(process.execPath, [command, 'plan', '--json'], {
    cwd: project,
    env: { ...offline(join(project, '.cache')), ...env },
  })
  assert.equal(ended.status, 1, account(ended))
  assert.equal(ended.stdout, '')
  const lines = ended.stderr.split('\n')
  assert.equal(lines.length, 3, ended.stderr)
  const [error, hint, rest] = lines
  assert.equal(rest, '')
  assert.ok(error.startsWith(BEGINNING), error)
  assert.ok(hint.startsWith('hint: ') && hint.includes(FROM_SOURCE), hint)
  return { why: error.slice(BEGINNING.length), hint }
}

/** What the system says of a library. */
function saidOf(file) {
  const source = `try { process.dlopen({ exports: {} }, ${JSON.stringify(file)}); console.log('opened') } catch (error) { console.log(error.message) }`
  return run(process.execPath, ['-e', source]).stdout.split('\n')[0]
}

/** Puts another file in the place of the engine, in a copy of the project. */
async function withEngine(t, bytes) {
  const project = `${installed}-${t.name.replaceAll(/\W/g, '-')}`
  t.after(() => rm(project, { recursive: true, force: true }))
  const filter = (path) => !path.endsWith('.node') && !path.endsWith('.tgz')
  await cp(installed, project, { recursive: true, filter, verbatimSymlinks: true })
  const file = join(project, 'node_modules', target.package, 'warpline.node')
  if (bytes !== null) await writeFile(file, bytes)
  return { project, file }
}

test('an install without optional dependencies says so', async () => {
  const project = await install({
    files: [artefacts.main],
    flags: ['--omit=optional'],
  })
  const { why, hint } = complaint(project)
  assert.equal(why, `the package ${target.package} is not installed`)
  assert.match(hint, /`npm install --omit=optional`/)
  assert.ok(hint.includes(`\`${target.package}@${version}\``), hint)

  const source = `import { runAdvance } from 'warpline'
import { warplineHome } from 'warpline/lib/paths'
const told = await runAdvance().catch((error) => error.message)
let thrown
try { warplineHome() } catch (error) { thrown = error.message }
console.log(JSON.stringify([told, thrown]))
`
  const ended = await runProgram(project, 'host.mjs', source, { command: process.execPath })
  for (const message of JSON.parse(ended.stdout)) {
    assert.equal(`error: ${message}`, `${BEGINNING}${why}\n${hint}`)
  }
})

test('an install that reaches no registry and has the main tarball alone says the same', async () => {
  const project = await install({ files: [artefacts.main], flags: [] })
  assert.equal(complaint(project).why, `the package ${target.package} is not installed`)
})

for (const [what, bytes] of [
  ['cut off within its head', intact.subarray(0, 60)],
  ['empty', Buffer.alloc(0)],
  ['no library at all', Buffer.from('not a library\n')],
  ['for another processor', forAnotherProcessor()],
]) {
  test(`an engine that is ${what} is told with what the system says of it`, async (t) => {
    const { project, file } = await withEngine(t, bytes)
    const said = saidOf(file)
    assert.notEqual(said, 'opened')
    const { why, hint } = complaint(project)
    assert.equal(why, `the package ${target.package} holds ${file}: ${said}`)
    assert.ok(hint.includes(`\`${target.package}@${version}\``), hint)
  })
}

// The system opens the first part of a library, and kills whoever uses the rest of it.
for (const kept of [0.999, 0.5, 0.1, 0.0001]) {
  test(`an engine of which ${kept} is left is refused`, async (t) => {
    const { project, file } = await withEngine(t, intact.subarray(0, intact.length * kept))
    const bytes = Math.floor(intact.length * kept)
    const { why, hint } = complaint(project)
    assert.equal(
      why,
      `the package ${target.package} holds ${file}, which is cut off after ${bytes} of ${intact.length} bytes`,
    )
    assert.ok(hint.includes(`\`${target.package}@${version}\``), hint)
  })
}

function forAnotherProcessor() {
  const [at, arch, other, otherwise] = PROCESSOR[process.platform]
  const bytes = Buffer.from(intact)
  bytes[at] = process.arch === arch ? other : otherwise
  return bytes
}

test('an engine of another version is refused with both versions', async (t) => {
  const { project, file } = await withEngine(t, intact)
  const manifest = join(project, 'node_modules', 'warpline', 'package.json')
  const other = { ...JSON.parse(await readFile(manifest, 'utf8')), version: '99.1.2' }
  await writeFile(manifest, JSON.stringify(other))
  const { why, hint } = complaint(project)
  assert.equal(
    why,
    `the package ${target.package} holds ${file}, which is version ${version}, and this is warpline 99.1.2`,
  )
  assert.ok(hint.includes(`\`${target.package}@99.1.2\` and \`warpline@99.1.2\``), hint)
})

test('a library that is none of ours is refused', async (t) => {
  // A library that Node.js opens, and that offers other things than the engine.
  const foreign = '@msgpackr-extract/msgpackr-extract-linux-x64/node.napi.glibc.node'
  const library = await readFile(join(npmDir, 'node_modules', foreign))
  const { project, file } = await withEngine(t, library)
  assert.match(
    complaint(project).why,
    /warpline\.node, which names no version, and this is warpline /,
  )
  await writeFile(join(dirname(file), 'warpline.js'), 'console.log("run")\n')
  const manifest = join(dirname(file), 'package.json')
  const other = { ...JSON.parse(await readFile(manifest, 'utf8')), main: 'warpline.js' }
  await writeFile(manifest, JSON.stringify(other))
  assert.match(complaint(project).why, /warpline\.js, which is no file with a name that ends in/)
})

test('a platform that no package is for is told which there are', async (t) => {
  const { project } = await withEngine(t, intact)
  const table = join(project, 'node_modules', 'warpline', 'lib', 'targets.json')
  const elsewhere = { ...target, package: '@warpline/elsewhere', platform: 'aix' }
  await writeFile(table, JSON.stringify([elsewhere]))
  const { why } = complaint(project)
  assert.equal(why, 'no package holds it for this platform; there are @warpline/elsewhere')
})

test('a file beside the package, and one that the environment names, are taken alone', async (t) => {
  const { project } = await withEngine(t, intact)
  const directory = join(project, 'node_modules', 'warpline', 'native')
  const beside = join(directory, 'warpline.node')
  await mkdir(directory)
  await writeFile(beside, 'not a library\n')
  assert.equal(complaint(project).why, `beside the package lies ${beside}: ${saidOf(beside)}`)

  const named = join(project, 'named.node')
  const { why } = complaint(project, { WARPLINE_NATIVE: named })
  assert.equal(why, `WARPLINE_NATIVE names ${named}, which is not there`)
  const script = join(project, 'script.txt')
  await writeFile(script, 'console.log("run")\n')
  for (const other of [script, directory]) {
    const told = complaint(project, { WARPLINE_NATIVE: other }).why
    const what = 'no file with a name that ends in .node'
    assert.equal(told, `WARPLINE_NATIVE names ${other}, which is ${what}`)
  }
  await writeFile(named, intact)
  const command = join(project, 'node_modules', '.bin', 'warpline')
  const env = { ...offline(join(project, '.cache')), WARPLINE_NATIVE: named }
  const ended = run(process.execPath, [command, '--version'], { cwd: project, env })
  assert.equal(ended.stdout, `warpline ${version}\n`, account(ended))
})
