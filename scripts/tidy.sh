#!/usr/bin/env bash
# Runs clang-tidy on the sources in the given folders (default: all).
set -euo pipefail

if [[ ${1:-} == -h || ${1:-} == --help ]]; then
  echo "Usage: scripts/tidy.sh [folder...]    e.g. scripts/tidy.sh daq/safety"
  exit 0
fi

cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/install_dependencies.sh lint
cmake --preset debug --log-level=WARNING
cmake --build --preset debug --target rig_schemas  # generated headers are included
git ls-files -z -- "${@:-.}" | grep -zE '\.cpp$' |
  xargs -0 --no-run-if-empty -n 1 -P "${RIG_JOBS:-$(nproc)}" clang-tidy -p build-debug --quiet
