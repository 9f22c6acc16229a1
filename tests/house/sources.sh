# Sourced by the checks: `our_sources ROOT SUFFIX...` prints our own source files, one a line.
our_sources() {
  local root=$1 names=()
  shift
  local suffix
  for suffix in "$@"; do names+=(-o -name "*.$suffix"); done
  local dirs=() dir
  for dir in kernels horovodx bindings integrations tools tests examples; do
    [ -d "$root/$dir" ] && dirs+=("$root/$dir")
  done
  find "${dirs[@]}" -type f \( "${names[@]:1}" \) | sort
}
