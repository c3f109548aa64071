// Writes TypeScript modules by chance, the same for the same seed: all that erases, in the forms and with
// the line breaks and comments that make erasing hard.

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function random(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const NAMES = ['a', 'b1', 'of', 'type', 'as', 'is', 'async', 'get', '$x', 'été', 'from', 'declare']
const TYPES = [
  'string',
  'number',
  'any',
  'unknown',
  'never',
  'boolean',
  'object',
  'null',
  'Foo',
  'A.B.C',
]
const GAPS = [' ', ' ', ' ', ' ', '  ', '\n', '\t', ' /* c */ ', '\n// c\n', '\r\n', ' /*\n*/ ']
/** Where no line may end. */
const TIGHT = [' ', ' ', '  ', '\t', ' /* c */ ']

/**
 * A module. What it holds is syntax and means nothing: no name need be there. TypeScript refuses a few,
 * where what is put behind a line break continues what stands in front of it.
 */
export function program(seed) {
  const next = random(seed)
  const below = (count) => Math.floor(next() * count)
  const one = (list) => list[below(list.length)]
  const maybe = (text, chance = 0.5) => (next() < chance ? text() : '')
  const times = (most, make) => Array.from({ length: below(most + 1) }, make)
  const some = (most, make) => Array.from({ length: 1 + below(most) }, make)
  const gap = () => one(GAPS)
  const tight = () => one(TIGHT)
  let declared = 0
  const fresh = (prefix) => `${prefix}${++declared}`
  const end = () => one([';', ';', '\n', '\n', ' // end\n', ';\n'])

  // Types

  const typeParameters = (depth, constant = false) =>
    `<${maybe(gap, 0.2)}${some(2, () => `${maybe(() => 'const ', constant ? 0.1 : 0)}${fresh('T')}${maybe(() => `${tight()}extends${gap()}${type(depth - 1)}`, 0.3)}`).join(`,${gap()}`)}${maybe(() => ',', 0.2)}${maybe(gap, 0.2)}>`
  const typeArguments = (depth) =>
    `<${maybe(gap, 0.2)}${some(2, () => type(depth - 1)).join(`,${gap()}`)}${maybe(gap, 0.2)}>`
  const typeParameterList = (depth) =>
    [
      ...times(1, () => `${fresh('p')}: ${type(depth - 1)}`),
      ...(next() < 0.3 ? times(2, () => `${fresh('p')}?: ${type(depth - 1)}`) : []),
    ].join(`,${gap()}`)

  function type(depth) {
    if (depth <= 0) return one(TYPES)
    const inner = () => type(depth - 1)
    return one([
      () => one(TYPES),
      () => `${inner()}[]`.replace(/^(.*[|&?:=].*)\[\]$/s, '($1)[]'),
      () => `Array${typeArguments(depth)}`,
      () => `{${gap()}${times(2, () => member(depth)).join('')}}`,
      () => `(${inner()}${gap()}|${gap()}${inner()})`,
      () => `(${maybe(() => '| ', 0.3)}${inner()}${gap()}&${gap()}${inner()})`,
      () =>
        `(${maybe(() => typeParameters(depth - 1), 0.2)}(${typeParameterList(depth)}) => ${inner()})`,
      () => `(new (${typeParameterList(depth)}) => ${inner()})`,
      () => `(abstract new () => ${inner()})`,
      () => `[${times(3, inner).join(', ')}]`,
      () => `[x: ${inner()}, y?: ${inner()}, ...z: ${inner()}[]]`,
      () => `(typeof Math${maybe(() => '.max', 0.5)})`,
      () => `(keyof ${inner()})`.replace('keyof (', 'keyof('),
      () =>
        `({${gap()}${maybe(() => 'readonly ', 0.4)}[K in keyof Foo${maybe(() => ' as Uppercase<string & K>', 0.3)}]${one(['', '?', '-?', '+?'])}: ${inner()} })`,
      () =>
        `(${inner()} extends ${one(['infer U', 'infer U extends string', '(infer U)[]', 'string'])}${gap()}? ${inner()}${gap()}: ${inner()})`,
      () => `\`a\${${inner()}}b\``,
      () => one(["'text'", '-1', '1n', 'true', 'undefined', 'void', 'this']),
      () => `Foo[${inner()}]`,
      () => `import('node:fs')${maybe(() => '.Stats')}`,
      () => `readonly string[]`,
    ])()
  }

  function member(depth) {
    const inner = () => type(depth - 1)
    const name = one([() => one(NAMES), () => "'q-q'", () => '7', () => '[Symbol.iterator]'])()
    return (
      one([
        () => `${maybe(() => 'readonly ', 0.3)}${name}${one(['', '?'])}: ${inner()}`,
        () => `${name}${one(['', '?'])}(${typeParameterList(depth)}): ${inner()}`,
        () => `[key: string]: ${inner()}`,
        () => `(${typeParameterList(depth)}): ${inner()}`,
        () => `new (${typeParameterList(depth)}): ${inner()}`,
        () => `get ${name}(): ${inner()}`,
        () => `set ${name}(v: ${inner()})`,
      ])() + one([';', ',', '\n'])
    )
  }

  const annotation = (depth, chance = 0.6) =>
    maybe(() => `${maybe(tight, 0.2)}:${gap()}${type(depth)}`, chance)

  // Expressions

  function expression(depth) {
    if (depth <= 0) return one(['0', "'s'", 'x0', '`t`', 'null', '/r[/]/g', '[1]', '({})', 'x0.y'])
    const inner = () => expression(depth - 1)
    const simple = () => one(['x0', 'f0', '(x0)', 'x0.y', 'f0()', 'x0[0]'])
    return one([
      inner,
      () => `(${inner()}${tight()}as${gap()}${type(depth)})`,
      () => `(${inner()}${tight()}satisfies${gap()}${type(depth)})`,
      () => `${simple()} as const`.replace(/^.* as const$/s, "(['a', 1] as const)"),
      () => `${simple()}!`,
      () => `${simple()}!.y`,
      () => `${simple()}![0]`,
      () => `${simple()}!()`,
      () => `f0${typeArguments(depth)}(${inner()})`,
      () => `new F0${typeArguments(depth)}(${inner()})`,
      () => `(f0${typeArguments(depth)})`,
      () => `f0${typeArguments(depth)}\`t\${${inner()}}u\``,
      () => `x0?.y${maybe(() => `?.${typeArguments(depth)}(${inner()})`)}`,
      () => `(${arrow(depth)})`,
      () => `(${functionText('', depth)})`,
      () => `[${times(3, inner).join(`,${gap()}`)}]`,
      () => `({ ${times(3, () => property(depth)).join(`,${gap()}`)} })`,
      () =>
        `(${inner()}${gap()}${one(['+', '??', '<', '>', '>>', '===', '&&', ','])}${gap()}${inner()})`.replace(
          /&&|\?\?/g,
          '|',
        ),
      () => `(${inner()} ?${gap()}${inner()} :${gap()}${inner()})`,
      () => `\`a\${${inner()}}\``,
      () => `(class ${classBody(depth - 1)})`,
      () => `(x0 as ${type(depth)} as ${type(depth)})`,
      () => `((x0 as ${type(depth)}).y${maybe(() => ' += 1')})`,
      () => `(x0! += 1)`,
      () => `(typeof ${inner()})`,
    ])()
  }

  const body = (depth) => `{${gap()}${times(2, () => statement(depth - 1)).join('')}}`

  /** What comes behind a parameter that may be left out may be left out as well. */
  const parameter = (depth, lacking) => {
    const name = fresh('p')
    const optional = [
      () => `${name}${maybe(tight, 0.2)}?${annotation(depth)}`,
      () => `${name}${annotation(depth)} = ${expression(depth - 1)}`,
    ]
    const needed = [
      () => `${name}${annotation(depth)}`,
      () => `{ ${name} }${annotation(depth)}`,
      () => `[${name}]${annotation(depth)}`,
    ]
    return one(lacking ? optional : needed)()
  }
  const parameters = (depth, bound = true) =>
    [
      ...(bound && next() < 0.15 ? [`this: ${type(depth - 1)}`] : []),
      ...times(2, () => parameter(depth - 1, false)),
      ...(next() < 0.4 ? times(2, () => parameter(depth - 1, true)) : []),
      ...(next() < 0.15 ? [`...${fresh('p')}${annotation(depth - 1)}`] : []),
    ].join(`,${gap()}`)
  const returns = (depth) =>
    maybe(
      () =>
        `:${gap()}${one([() => type(depth - 1), () => 'asserts x0', () => 'x0 is string', () => 'asserts x0 is Foo', () => type(depth - 1)])()}`,
    )

  const arrow = (depth) =>
    `${maybe(() => 'async ', 0.2)}${maybe(() => typeParameters(depth - 1, true), 0.3)}(${parameters(depth, false)})${returns(depth)} => ${one([() => expression(depth - 1), () => body(depth)])()}`.replace(
      /=> \{\}/g,
      '=> ({})',
    )
  const functionText = (name, depth) =>
    `${maybe(() => 'async ', 0.2)}function${one(['', '*'])} ${name}${maybe(() => typeParameters(depth - 1, true), 0.3)}(${parameters(depth)})${returns(depth)} ${body(depth)}`

  function property(depth) {
    const name = fresh('k')
    return one([
      () => `${name}: ${expression(depth - 1)}`,
      () =>
        `${name}${maybe(() => typeParameters(depth - 1, true), 0.3)}(${parameters(depth)})${returns(depth)} ${body(depth)}`,
      () => `get ${name}()${returns(depth)} ${body(depth)}`,
      () => `async *[x0]() ${body(depth)}`,
      () => `...${expression(depth - 1)}`,
      () => 'x0',
    ])()
  }

  const access = () =>
    maybe(() => one(['public ', 'private ', 'protected ', 'public\n', 'private /* c */ ']), 0.4)

  function element(depth) {
    const name = one([
      () => fresh('m'),
      () => fresh('m'),
      () => `[${fresh('"m')}"]`,
      () => `'${fresh('q-')}'`,
    ])()
    const stop = () => one([';', ';', ';\n', '\n'])
    return one([
      () =>
        `${access()}${one([() => `static ${name}${one(['', '?'])}`, () => `${maybe(() => 'readonly ', 0.3)}${name}${one(['', '?', '!'])}`])()}: ${type(depth)};\n`,
      () =>
        `${access()}${maybe(() => 'static ', 0.2)}${maybe(() => 'readonly ', 0.3)}${name}${annotation(depth)} = ${expression(depth)}${stop()}`,
      () => `declare ${maybe(() => 'readonly ', 0.3)}${name}: ${type(depth)}${stop()}`,
      () =>
        `${access()}${maybe(() => 'static ', 0.2)}${maybe(() => 'async ', 0.2)}${name}${maybe(() => typeParameters(depth - 1, true), 0.3)}(${parameters(depth)})${returns(depth)} ${body(depth)}\n`,
      () => `${access()}get ${name}()${returns(depth)} ${body(depth)}\n`,
      () => `#${fresh('h')}${annotation(depth)} = 1${stop()}`,
      () => `[key: string]: ${type(depth)}${stop()}`,
      () => {
        const over = fresh('m')
        return `${access()}${over}(a: string): ${type(depth)}${stop()}${over}(a${annotation(depth)}) ${body(depth)}\n`
      },
      () => `static ${body(depth)}\n`,
    ])()
  }
  const classBody = (depth) => `{${gap()}${times(4, () => element(depth)).join('')}}`

  function statement(depth) {
    const name = fresh('v')
    return one([
      () =>
        `${one(['let', 'const', 'var'])} ${name}${annotation(depth)} = ${expression(depth)}${end()}`,
      () => `let ${name}!: ${type(depth)}${end()}`,
      () => `let ${name}: ${type(depth)}${end()}`,
      () => `let { ${name} }${annotation(depth)} = ${expression(depth)}${end()}`,
      () => `${functionText(name, depth)}\n`,
      () =>
        `type ${name.toUpperCase()}${maybe(() => typeParameters(depth - 1), 0.3)} = ${type(depth)}${end()}`,
      () =>
        `interface ${name.toUpperCase()}${maybe(() => typeParameters(depth - 1), 0.3)}${maybe(() => ' extends Foo, A.B<C>', 0.3)} {${gap()}${times(3, () => member(depth)).join('')}}\n`,
      () =>
        `declare ${one([`const ${name}: ${type(depth)}`, `let ${name}: ${type(depth)}`, `function ${name}(a: ${type(depth)}): ${type(depth)}`])}${end()}`,
      () =>
        `${maybe(() => 'abstract ', 0.2)}class ${name}${maybe(() => typeParameters(depth - 1, true), 0.3)}${maybe(() => ` extends F0${maybe(() => typeArguments(depth))}`, 0.3)}${maybe(() => `${gap()}implements ${some(2, () => one(['Foo', 'A.B<C>', 'Array<string>'])).join(', ')}`, 0.3)} ${classBody(depth)}\n`,
      () => `if (${expression(depth)}) ${body(depth)}${maybe(() => ` else ${body(depth)}`, 0.3)}\n`,
      () =>
        `for (const ${fresh('i')}${one([' of ', ' in '])}${expression(depth)}) ${body(depth)}\n`,
      () => `for (let ${fresh('i')}: ${type(depth)} = 0; x0; x0) ${body(depth)}\n`,
      () => `try ${body(depth)} catch (${fresh('e')}: ${one(['unknown', 'any'])}) ${body(depth)}\n`,
      () => `x0 = ${expression(depth)}${end()}`,
      () => `;${expression(depth)};\n`,
      () => `x0 as ${type(depth)};\n`,
      () => `${fresh('l')}: while (x0) ${body(depth)}\n`,
      () =>
        `switch (${expression(depth)}) { case ${expression(depth)}: ${statement(depth - 1)} default: }\n`,
    ])()
  }

  function declaration(depth) {
    const name = fresh('d')
    return one([
      () => `import type ${name.toUpperCase()} from 'node:fs'${end()}`,
      () => `import type {${gap()}Stats as ${name}${gap()}} from 'node:fs'${end()}`,
      () => `import type * as ${name} from 'node:fs'${end()}`,
      () =>
        `import { type Stats as ${name},${gap()}readFile as ${fresh('d')} } from 'node:fs'${end()}`,
      () =>
        `import { readFile as ${name}, type Stats as ${fresh('d')}${maybe(() => ',')} } from 'node:fs'${end()}`,
      () => `export type { ${name} } from 'node:fs'${end()}`,
      () => `export type *${maybe(() => ` as ${name}`, 0.5)} from 'node:fs'${end()}`,
      () => `export { type Stats as ${name}, readFile as ${fresh('d')} } from 'node:fs'${end()}`,
      () => `export type ${name.toUpperCase()} = ${type(depth)}${end()}`,
      () =>
        `export interface ${name.toUpperCase()} { ${times(2, () => member(depth)).join('')} }\n`,
      () => `export const ${name}${annotation(depth)} = ${expression(depth)}${end()}`,
      () => `export ${functionText(name, depth)}\n`,
      () =>
        `export abstract class ${name} { abstract m(): ${type(depth)};${gap()}protected abstract readonly n: ${type(depth)};${gap()}${times(2, () => element(depth)).join('')}}\n`,
      () => `export declare class ${name} { m(): ${type(depth)} }\n`,
      () => `declare namespace ${name} { const x: ${type(depth)} }\n`,
      () => `namespace ${name} { ${maybe(() => 'export ')}type T = ${type(depth)} }\n`,
      () => `declare module 'm' { export const x: ${type(depth)} }\n`,
      () => `declare global { interface G { ${member(depth)} } }\n`,
      () => `declare enum ${name} { A }\n`,
      () =>
        `function ${name}(a: ${type(depth)}): ${type(depth)}${one([';', '\n'])}function ${name}(a${annotation(depth)}) ${body(depth)}\n`,
    ])()
  }

  const depth = 1 + below(3)
  return [
    'let x0, f0, F0 = class {}\n',
    statement(depth),
    ...some(6, () => one([() => statement(depth), () => declaration(depth)])()),
  ].join('')
}
