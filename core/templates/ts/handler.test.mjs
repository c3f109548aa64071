// @ts-check
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openTestHome } from 'warpline/unstable-testing'

// A home of its own: neither the configuration nor the records of the live one take part.
const home = await openTestHome({ pluginsDir: new URL('..', import.meta.url) })
after(() => home.remove())

test('the defaults of the manifest are enough', async () => {
  const { result } = await home.run('plugin-name', { now: '2029-12-30T08:00:00Z' })
  assert.equal(result.status, 'success', result.errors[0]?.message)
  assert.equal(result.summary, '2 days left')
})

test('a date that is none is refused by name, without its value', async () => {
  const { result } = await home.run('plugin-name', { args: { date: 'tomorrow' } })
  assert.equal(result.status, 'failed')
  assert.match(result.errors[0]?.message ?? '', /`date`/)
  assert.ok(!JSON.stringify(result).includes('tomorrow'))
})
