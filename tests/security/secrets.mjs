// Plugins that leak a secret in every way there is a record for: its value is in no file and in no output.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { hosts } from '../support.mjs'
import { place, plugin, READING, snapshot, warpline } from './support/home.mjs'

// What JSON, shells and patterns read more into is in there.
const SECRET = 'hunter"2\\\u00e9$&-0123456789abcdef'
const FORMS = [SECRET, JSON.stringify(SECRET).slice(1, -1), 'hunter', '0123456789abcdef']

const NODE = `const secret = process.env.TOKEN
const result = { status: 'success', phases_completed: [], phases_failed: [], data_freshness: {}, summary: 's' }
`
const PYTHON = `secret = os.environ['TOKEN']
result = {'status': 'success', 'phases_completed': [], 'phases_failed': [], 'data_freshness': {}, 'summary': 's'}
`

/** Each leak, in both languages. */
const LEAKS = {
  throws: ['throw new Error(secret)', 'raise RuntimeError(secret)'],
  causes: [
    'throw new Error("x", { cause: new Error(secret) })',
    'raise RuntimeError("x") from ValueError(secret)',
  ],
  text: ['throw secret', 'raise BaseException(secret)'],
  named: [
    'const e = new Error("x"); e.name = secret; throw e',
    'raise type("E", (Exception,), {"__str__": lambda self: secret})()',
  ],
  prints: [
    'console.log(secret); console.error({ a: [secret] }); return result',
    'print(secret)\nprint("a", secret, file=sys.stderr)\nreturn result',
  ],
  long: [
    'console.log("x".repeat(70000) + secret + "y".repeat(70000)); return result',
    'print("x" * 70000 + secret + "y" * 70000)\nreturn result',
  ],
  split: [
    'for (const part of secret) process.stdout.write(part); process.stdout.write("\\n"); return result',
    'for part in secret:\n    sys.stdout.write(part)\nprint()\nreturn result',
  ],
  summary: [
    'return { ...result, summary: "a " + secret }',
    'return {**result, "summary": "a " + secret}',
  ],
  output: [
    'return { ...result, output: { deep: [{ er: "<" + secret + ">" }] }, data_freshness: { at: secret } }',
    'return {**result, "output": {"deep": [{"er": secret}]}, "data_freshness": {"at": secret}}',
  ],
  errors: [
    'return { ...result, status: "failed", errors: [{ code: "unknown", message: secret, impact: "LOW", source: secret }] }',
    'return {**result, "status": "failed", "errors": [{"code": "unknown", "message": secret, "impact": "LOW", "source": secret}]}',
  ],
  model: [
    'return { ...result, status: "skipped", needs_llm: { task: secret, context_path: "c/" + secret } }',
    'return {**result, "status": "skipped", "needs_llm": {"task": secret, "context_path": "c/x"}}',
  ],
  phases: [
    'return { ...result, phases_completed: [secret], warnings: [secret] }',
    'return {**result, "phases_completed": [secret], "warnings": [secret]}',
  ],
  invalid: ['return { ...result, status: secret }', 'return {**result, "status": secret}'],
}

for (const host of Object.keys(hosts)) {
  const [head, which] = host === 'node' ? [NODE, 0] : [PYTHON, 1]
  describe(`secrets under ${host}`, () => {
    test('no leak reaches a file or an output', async (t) => {
      const { home } = place(t)
      for (const [name, bodies] of Object.entries(LEAKS)) {
        const manifest = { secrets: ['TOKEN'], max_retries: 0 }
        const gated = name === 'output' ? { autonomy_level: 'supervised' } : {}
        plugin(host, home, name, head + bodies[which], { ...manifest, ...gated })
      }
      let said = ''
      const told = async (words) => {
        const { stdout, stderr } = await warpline(host, home, words, { TOKEN: SECRET })
        said += `$ ${words.join(' ')}\n${stdout}${stderr}\n`
      }
      await told(['advance'])
      for (const name of Object.keys(LEAKS)) await told(['run', name, 'now'])
      await told(['run', 'throws', 'now', '--json'])
      await told(['advance', '--force', '--json'])
      for (const words of [
        ...READING,
        ['show', 'output'],
        ['show', 'output', '--json'],
        ['log', 'throws'],
      ])
        await told(words)
      assert.match(said, /\[redacted\]/)
      const files = Object.entries(snapshot(home)).filter(([path]) => !path.includes('/plugins/'))
      assert.ok(files.length > 15)
      const utf8 = (latin) => Buffer.from(latin, 'latin1').toString('utf8')
      for (const form of FORMS) {
        const at = said.indexOf(form)
        assert.equal(at, -1, `output: ${said.slice(Math.max(0, at - 300), at + 100)}`)
        for (const [path, text] of files) assert.ok(!utf8(text).includes(form), `${path}: ${form}`)
      }
    })
  })
}
