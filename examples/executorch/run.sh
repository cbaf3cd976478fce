#!/usr/bin/env bash
# Sets up ExecuTorch's wheel, builds kvcore and the demo, makes the models and runs it. Not zero if anything fails.
#
#   run.sh [FOLDER]        FOLDER: build/executorch beside the sources by default
#
# CXX chooses the compiler, KVCORE_LIBRARY an archive that is already built, KVCORE_SANITIZE sanitizers.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
folder=${1:-$root/build/executorch}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

"$here/setup.sh" "$folder"

library=${KVCORE_LIBRARY:-}
if [ -z "$library" ]; then
  (cd "$root" && cargo rustc --quiet --release --lib --crate-type staticlib --features capi,panic-handler)
  library=${CARGO_TARGET_DIR:-$root/target}/release/libkvcore.a
fi

demo=$folder/demo-$(basename "${CXX:-c++}")${KVCORE_SANITIZE:+-sanitized}
cmake -S "$here" -B "$demo" -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_COMPILER=${CXX:-c++}" \
  "-DKVCORE_EXECUTORCH_DIR=$folder/executorch" "-DKVCORE_LIBRARY=$library" \
  "-DKVCORE_SANITIZE=${KVCORE_SANITIZE:-}" >"$demo.log" 2>&1 ||
  { cat "$demo.log" >&2; exit 1; }
cmake --build "$demo" --parallel 2 >"$demo.log" 2>&1 || { cat "$demo.log" >&2; exit 1; }
# The runtime logs each error that the demo provokes.
"$demo/executorch_demo" "$demo/flat.pte" "$demo/ring.pte" "$demo/mixed.pte" 2>"$demo/runtime.log" ||
  { cat "$demo/runtime.log" >&2; exit 1; }
