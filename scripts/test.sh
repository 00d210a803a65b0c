#!/usr/bin/env bash
# Installs missing packages, builds, and runs every test.
set -euo pipefail

usage() {
  cat <<'USAGE'
Usage: scripts/test.sh [release|debug|asan|tsan] [ctest options]

Installs missing Debian packages, configures and builds the preset (release unless named), and runs
its tests. Arguments after the preset are passed to ctest, which prints a summary at the end.

  scripts/test.sh                       all tests, optimised build
  scripts/test.sh asan -R 'daq\.'       tests of the DAQ under the address sanitizer
  scripts/test.sh -N                    list the tests

  RIG_JOBS=n    parallel compilations and tests (default: number of processors)
USAGE
}

preset=release
case "${1:-}" in
  -h | --help) usage; exit 0 ;;
  release | debug | asan | tsan) preset=$1; shift ;;
esac

cd "$(dirname "${BASH_SOURCE[0]}")/.."
jobs=${RIG_JOBS:-$(nproc)}
scripts/install_dependencies.sh test
# An interpreter without sanitizers cannot load a module built with them.
python=ON
case $preset in asan | tsan) python=OFF ;; esac
cmake --preset "$preset" -DRIG_TESTS=ON -DRIG_PYTHON=$python --log-level=WARNING
cmake --build --preset "$preset" --parallel "$jobs"
exec ctest --preset "$preset" --parallel "$jobs" "$@"
