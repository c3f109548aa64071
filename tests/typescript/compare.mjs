// Compares the eraser with TypeScript's own output over cases.json, and over more files if named.
//
//   node compare.mjs <path of the typescript package> <command that erases stdin> [file.ts ...]
//
// Three things must hold for a module that erases: the text has the length and the line breaks of
// the source; compiled again it equals what TypeScript makes of the source; run, it prints the same.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [typescriptPath, command, ...files] = process.argv.slice(2);
if (command === undefined) {
  console.error('usage: node compare.mjs <typescript package> <erase command> [file.ts ...]');
  process.exit(2);
}
const ts = createRequire(import.meta.url)(resolve(typescriptPath));
const { cases } = JSON.parse(readFileSync(new URL('./cases.json', import.meta.url), 'utf8'));
const directory = mkdtempSync(join(tmpdir(), 'erase-'));
const failures = [];
let modules = 0;

const compilerOptions = {
  target: ts.ScriptTarget.ESNext,
  module: ts.ModuleKind.ESNext,
  verbatimModuleSyntax: true,
  removeComments: true,
};

function erase(source) {
  const { status, stdout, stderr } = spawnSync(command, {
    input: source,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  const code = status === 0 ? null : (stderr.match(/^ERR_\w+/m)?.[0] ?? stderr);
  return { code, text: stdout };
}

const withoutMark = (source) => source.replace(/^\uFEFF/, '');
const breaks = (text) => text.match(/\r\n|[\n\r\u2028\u2029]/g)?.join('') ?? '';
const compiled = (text, fileName) =>
  ts.transpileModule(text, { compilerOptions, fileName }).outputText;
// What blanking may leave behind or put in place of a type does not count.
const bare = (text) => text.replace(/[\s;,()]|\/\/# sourceMappingURL.*/g, '');

/** Runs a module and returns what it hands to `out`, and the error that ends it. */
async function run(name, text) {
  const path = join(directory, `${name}.mjs`);
  writeFileSync(path, text);
  const printed = [];
  globalThis.out = (...values) => printed.push(JSON.stringify(values) ?? 'undefined');
  try {
    await import(pathToFileURL(path).href);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof ReferenceError) throw error;
    printed.push(`throws ${error}`);
  }
  return printed.join('\n');
}

function compareText(name, source, text) {
  if (text.length !== source.length) failures.push(`${name}: the length differs`);
  if (breaks(text) !== breaks(source)) failures.push(`${name}: the line breaks differ`);
  if (bare(compiled(text, 'erased.mjs')) !== bare(compiled(source, 'source.mts'))) {
    failures.push(`${name}: the text differs from TypeScript's`);
  }
}

for (const { name, expect, source } of cases) {
  modules += 1;
  const { code, text } = erase(source);
  const refused = { unsupported: 'ERR_UNSUPPORTED', invalid: 'ERR_INVALID' }[expect];
  if (refused !== undefined) {
    if (code !== `${refused}_TYPESCRIPT_SYNTAX`) failures.push(`${name}: ${code ?? 'erased'}`);
    continue;
  }
  if (code !== null) {
    failures.push(`${name}: ${code}`);
    continue;
  }
  let printed;
  try {
    printed = await run(name, text);
  } catch (error) {
    if (expect !== 'engine') failures.push(`${name}: ${error}`);
    continue;
  }
  if (expect === 'engine') {
    failures.push(`${name}: the engine takes it`);
    continue;
  }
  compareText(name, withoutMark(source), text);
  // Positions that a module prints are those of the source, which TypeScript's output moves.
  const expected = await run(`${name}.oracle`, compiled(source, 'source.mts'));
  const unplaced = (lines) => lines.replace(/"\d+:\d+"/g, '"line:column"');
  if (unplaced(printed) !== unplaced(expected)) {
    failures.push(`${name}: prints ${printed}, not ${expected}`);
  }
  const places = printed.match(/"\d+:\d+"/g) ?? [];
  const throws = source.indexOf('new Error(');
  if (places.length > 0) {
    const before = source.slice(0, throws).split('\n');
    const place = `"${before.length}:${before.at(-1).length + 1}"`;
    if (places.some((found) => found !== place)) {
      failures.push(`${name}: an error is at ${places}, not ${place}`);
    }
  }
}

let refusals = 0;
for (const file of files) {
  modules += 1;
  const source = withoutMark(readFileSync(file, 'utf8'));
  const { code, text } = erase(source);
  if (code === null) compareText(file, source, text);
  else refusals += 1;
}

rmSync(directory, { recursive: true });
for (const failure of failures) console.error(failure);
console.log(`${modules} modules, ${refusals} files refused, ${failures.length} failures`);
process.exitCode = failures.length === 0 ? 0 : 1;
