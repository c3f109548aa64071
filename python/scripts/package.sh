#!/bin/sh
# Makes what the Python index gets, in dist/python or the folder that is named: a wheel for every CPython from 3.9 on and
# every glibc from 2.17 on, which zig links, and the source distribution. Its tools are in .venv/packages.
set -eu
cd "$(dirname "$0")/../.."
out=${1:-dist/python}
tools=.venv/packages
wanted=python/scripts/requirements.txt
if [ ! -e "$tools/.installed" ] || [ "$wanted" -nt "$tools/.installed" ]; then
  "${PYTHON3:-python3}" -m venv "$tools"
  "$tools/bin/python" -m pip install --quiet --disable-pip-version-check -r "$wanted"
  touch "$tools/.installed"
fi
# The same commit gives files with the same times.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
PATH=$PWD/$tools/bin:$PATH
rm -rf "$out"
maturin sdist --out "$out"
maturin build --quiet --release --locked --zig --compatibility manylinux_2_17 --out "$out"
ls -l "$out"
