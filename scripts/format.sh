#!/usr/bin/env bash
# Checks the formatting of every C and C++ file with .clang-format; --fix rewrites them.
set -euo pipefail

case "${1:-}" in
  "") action=(--dry-run -Werror) ;;
  --fix) action=(-i) ;;
  *) echo "Usage: scripts/format.sh [--fix]" >&2; exit 2 ;;
esac

cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/install_dependencies.sh lint
git ls-files -z -- '*.cpp' '*.hpp' '*.c' '*.h' | xargs -0 --no-run-if-empty clang-format "${action[@]}"
