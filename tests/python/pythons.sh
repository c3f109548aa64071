#!/bin/sh
# Puts newer CPythons than this Debian has into a folder, for test_interpreters.py: unpacked from the
# packages of the archive that apt is set up for, with a C library of their own, nothing installed.
set -eu
folder=$1
shift # versions, such as 3.14
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
archive=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep '/debian/$' | head -n 1)
rm -rf "$folder/apt" "$folder/root" "$folder/bin"
mkdir -p "$folder/apt/lists/partial" "$folder/apt/archives/partial" "$folder/root" "$folder/bin"
: >"$folder/apt/status"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $archive sid main" >"$folder/apt/sources.list"
cat >"$folder/apt/apt.conf" <<END
Dir::State::lists "$folder/apt/lists";
Dir::State::status "$folder/apt/status";
Dir::Cache "$folder/apt";
Dir::Etc::sourcelist "$folder/apt/sources.list";
Dir::Etc::sourceparts "-";
Acquire::Languages "none";
END
export APT_CONFIG="$folder/apt/apt.conf"
apt-get update -qq
apt-get install -qq --yes --download-only --no-install-recommends $(printf 'python%s ' "$@") >"$folder/apt/log"
for package in "$folder"/apt/archives/*.deb; do dpkg-deb -x "$package" "$folder/root"; done
rm -rf "$folder/apt"
usr="$folder/root/usr"
for version in "$@"; do
  cat >"$folder/bin/python$version" <<END
#!/bin/sh
PYTHONHOME=$usr exec $usr/lib64/ld-linux-x86-64.so.2 --library-path $usr/lib/x86_64-linux-gnu --argv0 $usr/bin/python$version $usr/bin/python$version "\$@"
END
  chmod +x "$folder/bin/python$version"
  "$folder/bin/python$version" --version
done
