#!/usr/bin/env bash
# Fails if the engine's library shows a symbol that is not its C ABI, or needs more than the C and
# C++ run time.
#   exports.sh LIBRARY [ALLOWED_LIBRARY...]
# Further libraries are for builds with a sanitizer, whose run time is one.
set -euo pipefail
library=${1:?usage: exports.sh LIBRARY [ALLOWED_LIBRARY...]}
shift
allowed='^(libc|libm|libstdc\+\+|libgcc_s|ld-linux[a-z0-9_-]*)\.so\.[0-9]+$'
failed=0

symbols=$(nm -D --defined-only --format=posix "$library" | cut -d' ' -f1 | sed 's/@.*//')
if ! grep -qx 'hvdx_submit' <<<"$symbols"; then
  echo "hvdx_submit is not exported"
  failed=1
fi
foreign=$(grep -Ev '^(hvdx_[a-z0-9_]+|horovod_[a-z0-9_]+|HOROVOD_[A-Z0-9_]+)$' <<<"$symbols" || true)
if [ -n "$foreign" ]; then
  echo "exported, but not part of the C ABI:"
  c++filt <<<"$foreign" | sed 's/^/  /'
  failed=1
fi

while read -r needed; do
  [[ $needed =~ $allowed ]] && continue
  for extra in "$@"; do [[ $needed == "$extra"* ]] && continue 2; done
  echo "needs $needed"
  failed=1
done < <(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p')

echo "$(wc -l <<<"$symbols") symbols exported"
exit $failed
