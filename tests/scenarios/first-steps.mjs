// A fresh machine: three commands lead to a first advance in which a plugin has run.
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { account, environment, hosts, run } from '../support.mjs'

for (const [name, { command, args, extra }] of Object.entries(hosts)) {
  test(`init, plan and advance are enough, under ${name}`, async (t) => {
    const directory = await mkdtemp(join(tmpdir(), 'warpline-first-'))
    t.after(() => rm(directory, { recursive: true, force: true }))
    const cwd = join(directory, 'project')
    await mkdir(cwd)
    const env = environment('', { ...extra, HOME: directory })
    const said = ['init', 'plan', 'advance'].map((verb) => {
      const ended = run(command, [...args, verb], { cwd, env })
      assert.equal(ended.status, 0, account(ended))
      assert.equal(ended.stderr, '')
      return ended.stdout
    })
    assert.match(said[0], /\.warpline is ready; `warpline plan` shows what is due\n$/)
    assert.match(said[1], /^Due \(1\):\n {2}metrics-rollup/m)
    assert.match(said[2], /^Run .*: complete\n {2}completed {2}metrics-rollup/)
    const sign = join(cwd, '.warpline', 'state', 'last-successful-advance')
    const { status, failed, skipped_reason } = JSON.parse(await readFile(sign, 'utf8'))
    assert.deepEqual([status, failed, skipped_reason], ['complete', 0, null])
  })
}
