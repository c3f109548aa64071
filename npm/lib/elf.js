// Reads what the loader of a Linux system does not say of a program or a library.

'use strict'

const { closeSync, fstatSync, openSync, readSync } = require('node:fs')

const HEADER_BYTES = 64
const PROGRAM_HEADER_BYTES = 56
const PT_INTERP = 3
const LONGEST_PATH = 4096

/** The magic number, 64 bits, little-endian. */
const IDENTITY = 0x7f454c460201

/**
 * The bytes that a file has and those that it should have, where it is the first part of an ELF
 * file; otherwise `null`.
 *
 * The system maps such a file as if it were whole, and kills the process that touches what is missing.
 *
 * @param {string} file
 * @returns {{ has: number, needs: number } | null}
 */
function cutOff(file) {
  return read(file, (header, descriptor) => {
    // Linkers write the table of sections last.
    const needs =
      Number(header.readBigUInt64LE(40)) + header.readUInt16LE(58) * header.readUInt16LE(60)
    const has = fstatSync(descriptor).size
    return has < needs ? { has, needs } : null
  })
}

/**
 * The C library that a program is linked against; `null` where it names none.
 *
 * @param {string} program
 * @returns {'glibc' | 'musl' | null}
 */
function libcOf(program) {
  return read(program, (header, descriptor) => {
    const table = Number(header.readBigUInt64LE(32))
    const headers = bytesAt(descriptor, table, header.readUInt16LE(56) * PROGRAM_HEADER_BYTES)
    for (let at = 0; at < headers.length; at += PROGRAM_HEADER_BYTES) {
      if (headers.readUInt32LE(at) !== PT_INTERP) continue
      const length = Number(headers.readBigUInt64LE(at + 32))
      if (length > LONGEST_PATH) return null
      const linker = bytesAt(descriptor, Number(headers.readBigUInt64LE(at + 8)), length)
      return linker.includes('ld-musl-') ? 'musl' : 'glibc'
    }
    return null
  })
}

/**
 * What can be read from an ELF file; `null` for any other, and for one that cannot be read.
 *
 * @template T
 * @param {string} file
 * @param {(header: Buffer, descriptor: number) => T} find
 * @returns {T | null}
 */
function read(file, find) {
  let descriptor
  try {
    descriptor = openSync(file, 'r')
    const header = bytesAt(descriptor, 0, HEADER_BYTES)
    const isElf = header.length === HEADER_BYTES && header.readUIntBE(0, 6) === IDENTITY
    return isElf ? find(header, descriptor) : null
  } catch {
    return null
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

/**
 * @param {number} descriptor
 * @param {number} position
 * @param {number} length
 */
function bytesAt(descriptor, position, length) {
  const bytes = Buffer.alloc(length)
  return bytes.subarray(0, readSync(descriptor, bytes, 0, length, position))
}

module.exports = { cutOff, libcOf }
