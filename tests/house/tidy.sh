#!/usr/bin/env bash
# Fails if clang-tidy (.clang-tidy) has something to say about one of our .cc files, tests excepted.
# The locks of base/mutex.h are checked on the way: the compiler of a release does not know them.
#   tidy.sh BUILD [PATTERN]
# BUILD holds compile_commands.json. PATTERN: only files whose path contains it.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
build=${1:?usage: tidy.sh BUILD [PATTERN]}
pattern=${2:-}
# Only what this build compiles: a file that needs an absent library is not in its database.
# Headers that gcc has compiled in advance are no use to clang: they are read as they are.
commands=$build/tidy
mkdir -p "$commands"
mapfile -t files < <(python3 - "$build/compile_commands.json" "$root" "$pattern" "$commands" <<'PY'
import json, os, re, sys
database, root, pattern, commands = sys.argv[1:]
compiled = json.load(open(database))
for c in compiled:
    c["command"] = re.sub(r" -include \S*cmake_pch\.hxx", "", c["command"])
with open(os.path.join(commands, "compile_commands.json"), "w") as file:
    json.dump(compiled, file)
files = {os.path.realpath(os.path.join(c["directory"], c["file"])) for c in compiled}
for file in sorted(files):
    inside = os.path.relpath(file, os.path.realpath(root))
    if inside.startswith(("..", "tests/")) or not file.endswith(".cc"):
        continue
    if pattern in file:
        print(file)
PY
)
echo "${#files[@]} files"
[ "${#files[@]}" -gt 0 ]
# The count of warnings in system headers, which are not shown, is no news.
printf '%s\0' "${files[@]}" |
  xargs -0 -n 1 -P "$(nproc)" clang-tidy -p "$commands" --quiet \
    --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wthread-safety 2> >(grep -v 'warnings\? generated' >&2)
