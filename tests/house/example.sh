#!/usr/bin/env bash
# Fails if examples/allreduce.c does not compile as C, run, and print both ranks' sum.
#   example.sh ROOT LIBRARY FOLDER
set -euo pipefail
root=$1 library=$2 folder=$3
cc -std=c11 -Wall -Wextra -Wpedantic -Werror "$root/examples/allreduce.c" -I"$root" "$library" \
  -Wl,-rpath,"$(dirname "$library")" -o "$folder/example_allreduce"
output=$("$folder/example_allreduce" | sort)
echo "$output"
[ "$output" = "rank 0 of 2: 3 20 200
rank 1 of 2: 3 20 200" ]
