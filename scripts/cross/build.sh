#!/bin/sh
# Builds and packs the native engines: the npm packages into dist/npm, or dist/npm/cross for other targets than this
# machine's, whose wheels go to dist/python/cross.
#
#   scripts/cross/build.sh TOOLS TRIPLE...
#
# With ALL_TARGETS=1 `warpline` names the engine of every target, and not that of this machine alone.
#
# TOOLS is a virtual environment with what python/scripts/requirements.txt names. Zig links, against the oldest C library
# that is promised: glibc 2.17, or any musl since 1.2. The standard library of Rust for other targets comes from rustup.
set -eu
cd "$(dirname "$0")/../.."
PATH=$(cd "$1" && pwd)/bin:$PATH
export PATH
shift
host=$(rustc -vV | sed -n 's/^host: //p')
# The same commit gives files with the same times.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

for triple in "$@"; do
  if [ "$triple" != "$host" ] && ! rustup target list --installed | grep -qx "$triple"; then
    rustup target add "$triple" || {
      echo "$triple is not built: rustup cannot fetch the standard library of Rust for it" >&2
      exit 1
    }
  fi
  case $triple in
  *-musl)
    # A library that another program opens shares the C library with it.
    flags='-C target-feature=-crt-static' link=$triple tag=musllinux_1_2
    ;;
  *)
    flags='' link=$triple.2.17 tag=manylinux_2_17
    ;;
  esac
  echo "== $triple"
  RUSTFLAGS=$flags cargo zigbuild --quiet --release --locked --package warpline-node --target "$link"
  node npm/scripts/pack.js --library "target/$triple/release/libwarpline_node.so" --target "$triple" --out dist/npm ${ALL_TARGETS:+--all-targets}
  [ "$triple" != "$host" ] || continue
  RUSTFLAGS=$flags maturin build --quiet --release --locked --zig --target "$triple" --compatibility "$tag" --out dist/python/cross
done
