#!/bin/sh
# Audits what the packages depend on. Licences, bans and sources are checked from the lock files; known faults are asked
# for where a database can be reached, and what could not be asked is said. Fails for a finding, not for silence.
set -u
bin=$1
status=0
gaps=''

step() {
  printf '\n== %s\n' "$1"
}

step 'Rust: bans, licences, sources'
"$bin/cargo-deny" --offline --locked check --hide-inclusion-graph bans licenses sources || status=1

step 'Rust: advisories'
if out=$("$bin/cargo-deny" --locked check advisories 2>&1); then
  printf '%s\n' "$out" | tail -n 1
elif printf '%s' "$out" | grep -q 'failed to fetch advisory database'; then
  gaps="$gaps
  advisories of Rust: the database cannot be reached from here"
else
  printf '%s\n' "$out"
  status=1
fi

step 'JavaScript: npm audit'
if out=$(cd npm && npm audit 2>&1); then
  printf '%s\n' "$out" | tail -n 1
elif printf '%s' "$out" | grep -q 'audit endpoint returned an error'; then
  gaps="$gaps
  advisories of npm: the registry answers no audit here"
else
  printf '%s\n' "$out"
  status=1
fi

step 'Python: pip-audit'
out=$("$bin/pip-audit" --disable-pip --no-deps -r tests/python/requirements.txt 2>&1)
code=$?
unasked=$(printf '%s\n' "$out" | grep -c 'could not be audited')
if printf '%s' "$out" | grep -q 'No known vulnerabilities found' && [ "$unasked" -eq 0 ]; then
  echo 'no known vulnerabilities'
elif [ "$unasked" -gt 0 ] && ! printf '%s' "$out" | grep -qE '^Found [0-9]+ known'; then
  gaps="$gaps
  advisories of Python: $unasked packages could not be asked about"
elif [ "$code" -ne 0 ] && printf '%s' "$out" | grep -qiE 'connection|resolve|HTTPError|timed out'; then
  gaps="$gaps
  advisories of Python: the database cannot be reached from here"
else
  printf '%s\n' "$out"
  status=1
fi

step 'workflows'
"$bin/zizmor" --offline --quiet .github/workflows || status=1

step 'licences'
"$bin/cargo-deny" --offline --locked list 2>/dev/null | sed 's/^\([^:]*([0-9]*)\).*/  Rust  \1/'
sed -n 's/^ *"license": "\(.*\)",\{0,1\}$/\1/p' npm/package-lock.json | sort | uniq -c | sed 's/^ *\([0-9]*\) \(.*\)/  npm   \2 (\1)/'

[ -z "$gaps" ] || printf '\nnot audited:%s\n' "$gaps"
exit $status
