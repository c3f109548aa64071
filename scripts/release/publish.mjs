// Publishes the npm packages of a folder: those that hold a native engine first, then the one that names them.
//
//   node scripts/release/publish.mjs DIRECTORY [OPTION OF NPM PUBLISH...]
//
// Refuses before it begins where they are of several versions, or `warpline` names a package that does not lie there.
// What is published already, byte for byte, is left out, so that a release which broke off can be taken up again.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const [directory, ...options] = process.argv.slice(2)

/** Runs a command to its end; its output, unless it fails. */
function run(command, args) {
  return spawnSync(command, args, { encoding: 'utf8', maxBuffer: 1 << 28 })
}

/** The tarballs below the folder: `{path, name, version, engines}`, where `engines` are the packages it names. */
function tarballs() {
  const found = readdirSync(directory, { recursive: true, withFileTypes: true })
  return found
    .filter((entry) => entry.isFile() && entry.name.endsWith('.tgz'))
    .map((entry) => {
      const path = join(entry.parentPath ?? entry.path, entry.name)
      const { status, stdout, stderr } = run('tar', ['-xOzf', path, 'package/package.json'])
      if (status !== 0) throw new Error(`${path}: ${stderr.trim()}`)
      const { name, version, optionalDependencies = {} } = JSON.parse(stdout)
      return { path, name, version, engines: optionalDependencies }
    })
}

/** The packages in their order. Throws where they do not belong together. */
function inOrder(found) {
  const [first] = found
  if (!first) throw new Error(`${directory} holds no packages`)
  const other = found.find(({ version }) => version !== first.version)
  if (other)
    throw new Error(
      `${other.path} is of version ${other.version}, and ${first.path} of ${first.version}`,
    )
  const named = found.filter(({ engines }) => Object.keys(engines).length > 0)
  if (named.length !== 1)
    throw new Error(
      `${directory} must hold one package that names the others, and holds ${named.length}`,
    )
  const rest = found.filter((each) => each !== named[0])
  const needed = named[0].engines
  for (const [name, version] of Object.entries(needed)) {
    if (version !== first.version)
      throw new Error(`${named[0].path} names ${name} in version ${version}`)
    if (rest.filter((each) => each.name === name).length !== 1)
      throw new Error(`${named[0].path} names ${name}, which is not there exactly once`)
  }
  const unnamed = rest.find(({ name }) => !(name in needed))
  if (unnamed) throw new Error(`${named[0].path} does not name ${unnamed.name}`)
  return [...rest, named[0]]
}

/** Whether the registry has just this file. Throws where it has another one, or does not answer. */
function isPublished({ path, name, version }) {
  const { status, stdout, stderr } = run('npm', [
    'view',
    `${name}@${version}`,
    'dist.integrity',
    '--json',
  ])
  if (status !== 0 && /"code": "E404"/.test(stdout)) return false
  if (status !== 0) throw new Error(`npm view ${name}@${version}: ${stderr.trim()}`)
  if (stdout.trim() === '') return false
  const integrity = `sha512-${createHash('sha512').update(readFileSync(path)).digest('base64')}`
  if (JSON.parse(stdout) !== integrity)
    throw new Error(`${name}@${version} is published already, and is another file`)
  return true
}

try {
  if (!directory) throw new Error('a folder of packages has to be named')
  for (const each of inOrder(tarballs())) {
    if (isPublished(each)) {
      console.log(`${each.name}@${each.version}: there already`)
      continue
    }
    const tag = each.version.includes('-') ? 'next' : 'latest'
    const args = [
      'publish',
      each.path,
      '--access',
      'public',
      '--tag',
      tag,
      '--ignore-scripts',
      ...options,
    ]
    const { status } = spawnSync('npm', args, { stdio: ['ignore', 'inherit', 'inherit'] })
    if (status !== 0) throw new Error(`${each.name}@${each.version} was not published`)
    console.log(`${each.name}@${each.version}: published`)
  }
} catch (error) {
  console.error(error.message)
  process.exit(1)
}
