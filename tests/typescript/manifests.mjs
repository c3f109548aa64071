// Compares the reader of literal manifests with what Node makes of the same modules.
//
//   node manifests.mjs <command of core/examples/erase> [folder of manifests]
//
// Every module of manifests.json (and every .ts file of the folder) is read, and where it is read,
// also erased and imported, with a schema whose `parse` gives back its argument. A module that is
// read must import, and to the same JSON.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [command, folder] = process.argv.slice(2);
if (command === undefined) {
  console.error('usage: node manifests.mjs <erase command> [folder of manifests]');
  process.exit(2);
}
const { cases } = JSON.parse(readFileSync(new URL('./manifests.json', import.meta.url), 'utf8'));
for (const file of folder === undefined ? [] : readdirSync(folder)) {
  if (file.endsWith('.ts')) {
    cases.push({ name: file, source: readFileSync(join(folder, file), 'utf8') });
  }
}

const home = mkdtempSync(join(tmpdir(), 'manifests-'));
const packageDirectory = join(home, 'node_modules', 'warpline');
mkdirSync(packageDirectory, { recursive: true });
writeFileSync(
  join(packageDirectory, 'package.json'),
  '{"name":"warpline","type":"module","exports":{"./schemas/plugin-manifest":"./schema.js"}}',
);
writeFileSync(
  join(packageDirectory, 'schema.js'),
  'export const PluginManifestSchema = { parse: (value) => ({ parsed: value }) };',
);

function call(source, ...options) {
  const { status, stdout, stderr } = spawnSync(command, options, {
    input: source,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

const failures = [];
let read = 0;
for (const { name, source, expect } of cases) {
  const literal = call(source, 'literal');
  const kind = Object.keys(JSON.parse(literal) ?? { unread: null })[0];
  if (expect !== undefined && kind !== expect) failures.push(`${name}: ${kind}, not ${expect}`);
  if (kind === 'unread') continue;
  read += 1;
  try {
    const path = join(home, `${name}.mjs`);
    writeFileSync(path, call(source));
    const { manifest } = await import(pathToFileURL(path).href);
    const imported = JSON.stringify(kind === 'parsed' ? manifest : { bare: manifest });
    if (literal !== imported) failures.push(`${name}: ${literal}, imported ${imported}`);
  } catch (error) {
    failures.push(`${name}: is read, but ${error}`);
  }
}
rmSync(home, { recursive: true });
for (const failure of failures) console.error(failure);
console.log(`${cases.length} modules, ${read} read, ${failures.length} failures`);
process.exitCode = failures.length === 0 ? 0 : 1;
