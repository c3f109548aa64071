// Puts one fault after the other into a copy of the engine, and shows which suite notices it.
//
// `faults.json` lists them: what is wrong, the file, the text that is replaced (lines of it, where it has
// several), and what takes its place. The kept histories and the generated ones of the model are asked
// each on their own; `suite` names arguments of `cargo test` for a fault that is another suite's business.
// Exits 1 where a fault survives all of them. Words after the program choose faults that contain them; with
// `--kept` the generated histories are left out, which take most of the time.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from '../support.mjs'

const work = join(root, 'target', 'faults')
const tree = join(work, 'tree')
const keptAlone = process.argv.includes('--kept')

/** A text that is written as one line, or as several. */
const lines = (text) => [text].flat().join('\n')

/** Copies every file that is tracked, or would be, as new: the last fault must not pass for built from it. */
function copyTree() {
  const listed = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
  const files = execFileSync('git', listed, { cwd: root, encoding: 'utf8' })
  rmSync(tree, { recursive: true, force: true })
  const there = (file) => file !== '' && existsSync(join(root, file))
  for (const file of files.split('\0').filter(there)) {
    mkdirSync(dirname(join(tree, file)), { recursive: true })
    cpSync(join(root, file), join(tree, file))
  }
}

/** Runs tests of the copy: `caught`, `missed`, or `broken` where it does not compile. */
function run(args) {
  const env = {
    ...process.env,
    CARGO_TARGET_DIR: join(work, 'build'),
    WARPLINE_MODEL_BRIEF: '1',
  }
  const ran = spawnSync('cargo', ['test', '--quiet', '--locked', '-p', 'warpline-core', ...args], {
    cwd: tree,
    env,
    encoding: 'utf8',
  })
  const text = ran.stdout + ran.stderr
  if (ran.status === 0) return { how: 'missed', text }
  return { how: text.includes('test result: FAILED') ? 'caught' : 'broken', text }
}

/** What failed first, for the table. */
function witness(text) {
  const histories = [...text.matchAll(/histories\/([a-z0-9-]+)\.json/g)].map((found) => found[1])
  return [...new Set(histories)].join(', ')
}

function seed({ fault, file, from, to, suite }) {
  const path = join(tree, file)
  const source = readFileSync(path, 'utf8')
  const parts = source.split(lines(from))
  if (parts.length !== 2) throw new Error(`"${fault}" does not fit ${file}`)
  writeFileSync(path, parts.join(lines(to)))
  try {
    const kept = run(['--test', 'model', 'kept_histories'])
    if (kept.how === 'broken') throw new Error(`"${fault}" does not compile:\n${kept.text}`)
    const generated = keptAlone
      ? { how: 'not asked', text: '' }
      : run(['--test', 'model', 'the_engine_does'])
    const other = suite === undefined ? undefined : run(suite)
    return { fault, kept, generated, other, suite }
  } finally {
    writeFileSync(path, source)
  }
}

const asked = process.argv.slice(2).filter((word) => word !== '--kept')
const table = JSON.parse(readFileSync(new URL('./faults.json', import.meta.url), 'utf8'))
const chosen = table.filter(
  ({ fault }) => asked.length === 0 || asked.some((word) => fault.includes(word)),
)
copyTree()
const sound = run(['--test', 'model', ...(keptAlone ? ['kept_histories'] : [])])
if (sound.how !== 'missed') {
  console.error(`the model is not content with the code as it is:\n${sound.text}`)
  process.exit(1)
}
let survivors = 0
console.log('| fault | kept histories | generated histories | other suite |\n|---|---|---|---|')
for (const one of chosen) {
  const { fault, kept, generated, other, suite } = seed(one)
  const all = [kept, generated, other]
  if (!all.some((result) => result?.how === 'caught')) survivors += 1
  const by = kept.how === 'caught' ? witness(kept.text) : kept.how
  const others = other === undefined ? '' : `${suite.join(' ')}: ${other.how}`
  console.log(`| ${fault} | ${by} | ${generated.how} | ${others} |`)
}
console.log(`\n${chosen.length - survivors} of ${chosen.length} faults are caught.`)
process.exit(survivors === 0 && chosen.length > 0 ? 0 : 1)
