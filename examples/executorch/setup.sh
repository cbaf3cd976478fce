#!/usr/bin/env bash
# Unpacks ExecuTorch's PyPI wheel (C++ runtime, headers, flatc; no torch) into a build folder.
#
#   setup.sh [FOLDER]      FOLDER: build/executorch beside the sources by default
#
# Afterwards FOLDER/executorch is what KVCORE_EXECUTORCH_DIR wants. A second run does nothing.
set -euo pipefail

version=1.5.1
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=${1:-$root/build/executorch}
mark=$folder/version

if [ -f "$mark" ] && [ "$(cat "$mark")" = "$version" ]; then
  echo "ExecuTorch $version is set up"
  exit 0
fi

mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
rm -rf "$folder/executorch" "$folder/wheel" "$folder/version"
# What pip says goes to a file: it names hosts.
if ! python3 -m pip download --disable-pip-version-check --no-deps --only-binary=:all: --python-version 3.11 \
    --platform "manylinux_2_28_$(uname -m)" -d "$folder/wheel" "executorch==$version" >"$folder/pip.log" 2>&1; then
  echo "setup.sh: pip cannot fetch executorch==$version for $(uname -m); see pip.log in the build folder" >&2
  exit 1
fi
python3 -m zipfile -e "$folder"/wheel/executorch-*.whl "$folder/unpacked"
mv "$folder/unpacked/executorch" "$folder/executorch"
rm -rf "$folder/unpacked" "$folder/wheel" "$folder/pip.log"
chmod +x "$folder/executorch/data/bin/flatc"
echo "$version" >"$folder/version"
echo "ExecuTorch $version is set up"
