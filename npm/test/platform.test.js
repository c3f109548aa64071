// Telling what machine runs this program, and which package is for it.

import assert from 'node:assert/strict'
import { copyFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

import { cutOff, libcOf } from '../lib/elf.js'
import { nativePath } from '../lib/native.js'
import { libc, targetFor, targets } from '../lib/platform.js'
import { temporaryDirectory } from './support/plugins.js'

const directory = temporaryDirectory()

/**
 * Writes a program that asks for a dynamic linker, its program headers ending with that request.
 *
 * @param {string} name
 * @param {string} linker
 */
function program(name, linker, { headers = 1, kind = 3 } = {}) {
  const bytes = Buffer.alloc(64 + headers * 56)
  Buffer.from('7f454c460201', 'hex').copy(bytes)
  bytes.writeBigUInt64LE(64n, 32)
  bytes.writeUInt16LE(headers, 56)
  const last = 64 + (headers - 1) * 56
  bytes.writeUInt32LE(kind, last)
  bytes.writeBigUInt64LE(BigInt(bytes.length), last + 8)
  bytes.writeBigUInt64LE(BigInt(linker.length + 1), last + 32)
  const file = join(directory, name)
  writeFileSync(file, Buffer.concat([bytes, Buffer.from(`${linker}\0`)]))
  return file
}

test('a program says which C library it is linked against', () => {
  assert.equal(libcOf(program('musl', '/lib/ld-musl-x86_64.so.1')), 'musl')
  assert.equal(libcOf(program('musl-arm', '/lib/ld-musl-aarch64.so.1', { headers: 5 })), 'musl')
  assert.equal(libcOf(program('glibc', '/lib64/ld-linux-x86-64.so.2')), 'glibc')
  assert.equal(libcOf(program('moved', '/store/x/ld-linux-aarch64.so.1', { headers: 9 })), 'glibc')
})

test('a file that asks for none says nothing', () => {
  assert.equal(libcOf(program('static', '/lib/ld-musl-x86_64.so.1', { kind: 1 })), null)
  assert.equal(libcOf(program('long', 'x'.repeat(5000))), null)
  const head = Buffer.from('7f454c460201', 'hex')
  for (const bytes of [Buffer.alloc(0), Buffer.from('#!/bin/sh\n'.repeat(20)), head]) {
    const file = join(directory, 'other')
    writeFileSync(file, bytes)
    assert.equal(libcOf(file), null)
    assert.equal(cutOff(file), null)
  }
  assert.equal(libcOf(join(directory, 'missing')), null)
  assert.equal(libcOf(directory), null)
})

test('this process agrees with what Node.js reports of it', { skip: libc() === null }, () => {
  const report = /** @type {any} */ (process.report.getReport())
  assert.equal(libc(), report.header.glibcVersionRuntime ? 'glibc' : 'musl')
})

test('a library is whole, or it is known how much is left of it', () => {
  const file = join(directory, 'warpline.node')
  copyFileSync(nativePath(), file)
  assert.equal(cutOff(file), null)
  const needs = cutAt(file, 1_000_000)
  assert.ok(needs > 1_000_000)
  assert.equal(cutAt(file, 64), needs)
})

/** @param {string} file @param {number} has */
function cutAt(file, has) {
  truncateSync(file, has)
  const part = cutOff(file)
  assert.equal(part?.has, has)
  return part.needs
}

test('each target has a package of its own, named for what it is', () => {
  for (const key of /** @type {const} */ (['package', 'triple'])) {
    assert.equal(new Set(targets.map((target) => target[key])).size, targets.length)
  }
  /** @type {Record<string, string>} */
  const arches = { x64: 'x86_64', arm64: 'aarch64' }
  /** @type {Record<string, string>} */
  const abis = { glibc: '-gnu', musl: '-musl' }
  for (const { package: name, platform, arch, libc: library, triple } of targets) {
    const abi = abis[library ?? ''] ?? ''
    assert.equal(name, `@warpline/${platform}-${arch}${abi}`)
    assert.ok(triple.startsWith(`${arches[arch]}-`), triple)
    assert.ok(triple.includes(platform) && triple.endsWith(abi), triple)
  }
})

test('a target is for one platform, processor and C library', () => {
  for (const library of /** @type {const} */ (['glibc', 'musl', null])) {
    const fitting = targets.filter(
      ({ platform, arch, libc: needed }) =>
        platform === process.platform && arch === process.arch && needed === library,
    )
    const found = targetFor(library)
    assert.deepEqual(found ? [found] : [], fitting)
  }
  assert.equal(targetFor(/** @type {any} */ ('another')), undefined)
})
