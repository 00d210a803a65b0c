#!/usr/bin/env bash
# Installs the locked versions of the official MCAP reader and checks our recordings with it.
#   run.sh <build folder> <judged_recording>
# Exits with 77, which CTest reports as skipped, if node or the npm registry is missing.
set -euo pipefail

build=$1 judged_recording=$2
source=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
  echo "skipped: node and npm are not installed"
  exit 77
fi
mkdir -p "$build"
cp "$source"/{package.json,package-lock.json,judge.mjs} "$build"
cd "$build"
if ! cmp -s package-lock.json installed-lock.json; then
  if ! timeout 30 npm ping >/dev/null 2>&1; then
    echo "skipped: the npm registry is out of reach"
    exit 77
  fi
  npm ci --ignore-scripts --no-audit --no-fund --prefer-offline
  cp package-lock.json installed-lock.json
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
node judge.mjs "$folder" "$judged_recording"
