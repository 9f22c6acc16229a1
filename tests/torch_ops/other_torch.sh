#!/usr/bin/env bash
# Runs the tests of torch.ops.horovodx with another version of PyTorch: the same binary, not built again.
#
#   other_torch.sh VERSION [PYTEST ARGUMENTS...]      e.g. other_torch.sh 2.10.0 -x
#
# Downloads the wheel (about 1 GB, 3 GB unpacked) to a folder of its own, which is removed in the end; set
# HVDX_OTHER_TORCH to a folder to keep it. PyTorch's dependencies come from the Python that runs this.
# Wheels for CUDA are given empty CUDA libraries (stub_libraries.py): what runs is their CPU code.
# PYTHON (python3) must have horovodx, pytest and what PyTorch depends on.
set -euo pipefail
version=${1:?usage: other_torch.sh VERSION [PYTEST ARGUMENTS...]}
shift
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=${PYTHON:-python3}
folder=${HVDX_OTHER_TORCH:-}
if [ -z "$folder" ]; then
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
fi
packages=$folder/torch-$version
stubs=$folder/stubs-$version

if [ ! -d "$packages/torch" ]; then
  "$python" -m pip install --quiet --no-deps --target "$packages" "torch==$version"
fi
if [ ! -d "$stubs" ]; then
  "$python" "$here/stub_libraries.py" "$packages/torch/lib" "$stubs"
fi

export PYTHONPATH=$packages${PYTHONPATH:+:$PYTHONPATH}
export LD_LIBRARY_PATH=$stubs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
# The first stub has the symbols that belong to no library in particular.
first=$(find "$stubs" -name '*.so*' ! -name '*.map' ! -name '*.s' | sort | head -1)
if [ -n "$first" ]; then export LD_PRELOAD=$first; fi
# PyTorch loads its CUDA libraries first from site-packages; these stand in for them.
"$python" -c 'import torch; print("torch", torch.__version__, torch.__file__)'
cd "$here"
"$python" -m pytest -q -p no:cacheprovider "$@" .
