#!/usr/bin/env bash
# Fails if a source file is not as clang-format (.clang-format) would write it.
#   format.sh [ROOT]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=${1:-$here/../..}
. "$here/sources.sh"
mapfile -t files < <(our_sources "$root" h cc cu)
echo "${#files[@]} files"
[ "${#files[@]}" -gt 0 ]
clang-format --dry-run --Werror "${files[@]}"
