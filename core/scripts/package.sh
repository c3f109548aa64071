#!/bin/sh
# Makes what the index of crates gets, in dist/crate or the folder that is named: the engine, which cargo has unpacked and
# compiled by itself, outside of the workspace.
set -eu
cd "$(dirname "$0")/../.."
out=${1:-dist/crate}
rm -rf "$out" target/package
mkdir -p "$out"
cargo package --quiet --package warpline-core --locked --allow-dirty
cp target/package/warpline-core-*.crate "$out"
ls -l "$out"
