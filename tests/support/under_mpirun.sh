#!/usr/bin/env bash
# Runs a test program on so many ranks by mpirun; exit code 77 (skipped) where there is none.
#   under_mpirun.sh RANKS PROGRAM [ARGUMENT...]
set -u
ranks=${1:?usage: under_mpirun.sh RANKS PROGRAM [ARGUMENT...]}
shift
if ! command -v mpirun >/dev/null; then
  echo "skipped: mpirun is not installed (Debian: openmpi-bin)"
  exit 77
fi
# MPI is not built with a sanitizer: what it does is not ours to judge. Only one rank reports.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
export TSAN_OPTIONS="${TSAN_OPTIONS:-}:ignore_noninstrumented_modules=1"
# shellcheck disable=SC2016
exec mpirun --oversubscribe --allow-run-as-root --mca mpi_yield_when_idle 1 -np "$ranks" sh -c \
  '[ "${OMPI_COMM_WORLD_RANK:-0}" = 0 ] || unset GTEST_OUTPUT; exec "$@"' rank "$@"
