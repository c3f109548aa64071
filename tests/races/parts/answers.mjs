// What a round's answers allow: which value each document may have in the end, and whether an effect had a yes.
//
// Only the beginning and the end of each operation are known, so a fault is what no order of them explains. An operation
// that was killed may have happened or not.

/** Whether the last word on a value may have been `found`, given `{begin, end, value, maybe}` of all that spoke, the state before included. */
export function mayEndWith(found, spoken) {
  return spoken.some(
    (last) =>
      last.value === found &&
      !spoken.some((later) => !later.maybe && later.begin > last.end && later.value !== found),
  )
}

const before = (value) => ({ begin: 0, end: 0, value, maybe: false })

const saidYes = ({ killed, report }, plugin) =>
  killed ? undefined : (report?.grant?.scopes.includes(plugin) ?? false)
const saidNo = ({ killed, report }, plugin) => {
  if (killed) return undefined
  const all = [...(report?.recorded ?? []), ...(report?.unchanged ?? [])]
  return all.some((denial) => denial.plugin === plugin)
}

/** Everything that was said of one matter; `happened` tells true, false, or undefined where nobody knows. */
function spoken(operations, matters, happened, value) {
  return operations.filter(matters).flatMap((operation) => {
    const did = happened(operation)
    const { begin, end } = operation
    return did === false ? [] : [{ begin, end, value: value(operation), maybe: did === undefined }]
  })
}

const succeeded = ({ killed, status }) => (killed ? undefined : status === 0)

/** What was said of the grant of a plugin: true for a yes, false for a revocation. */
export function grantWords(operations, plugin, granted) {
  const names = ({ kind, names }) => kind === 'approve' && names.includes(plugin)
  const yes = (operation) => saidYes(operation, plugin)
  return [
    before(granted),
    ...spoken(operations, names, yes, () => true),
    ...spoken(
      operations,
      ({ kind }) => kind === 'revoke',
      succeeded,
      () => false,
    ),
  ]
}

/** What was said of the denial of a plugin: true for a no, false for one that was taken back. */
export function denialWords(operations, plugin, denied) {
  const of =
    (wanted) =>
    ({ kind, names }) =>
      kind === wanted && names.includes(plugin)
  return [
    before(denied),
    ...spoken(
      operations,
      of('deny'),
      (each) => saidNo(each, plugin),
      () => true,
    ),
    ...spoken(operations, of('deny --remove'), succeeded, () => false),
  ]
}

/** What was said of the one configuration. */
export function levelWords(operations, level) {
  const configures = ({ kind }) => kind === 'configure'
  return [before(level), ...spoken(operations, configures, succeeded, ({ value }) => value)]
}

/** Whether something may have stood at some instant from `from` to `to`, given all that was said of it. */
export function mayStand(words, value, from, to) {
  return words.some(
    (word) =>
      word.value === value &&
      word.begin <= to &&
      !words.some(
        (later) =>
          !later.maybe && later.value !== value && later.begin > word.end && later.end < from,
      ),
  )
}
