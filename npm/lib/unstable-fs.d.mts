// Files that are whole or absent: atomic replacement, and reading what may not be there.

export * from './unstable-fs.js'
