#!/usr/bin/env bash
# Builds the Debian package; --try tests it in a minimal system.
set -euo pipefail

usage() {
  cat <<'USAGE'
Usage: scripts/package.sh [--try] [FOLDER]

Builds rigcal's Debian package from the last commit, into FOLDER (default: out/package).
Needs dpkg-dev, debhelper and the packages of scripts/install_dependencies.sh demo.

  --try   then test the package with scripts/try_package.sh, as root
USAGE
}

try=
case "${1:-}" in
  -h | --help) usage; exit 0 ;;
  --try) try=1; shift ;;
esac
out=$(realpath -m "${1:-$(dirname "${BASH_SOURCE[0]}")/../out/package}")
cd "$(dirname "${BASH_SOURCE[0]}")/.."

need() {
  command -v "$1" >/dev/null && return
  echo "package.sh: $1 is missing; apt-get install $2" >&2
  exit 1
}
need dpkg-buildpackage dpkg-dev
need dh debhelper
[[ -z $try ]] || need mmdebstrap mmdebstrap

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git archive --prefix=rigcal/ HEAD | tar -x -C "$work"
# Skip the debug symbol package: it takes minutes to pack and is not distributed.
(cd "$work/rigcal" && DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS:-} noddebs" dpkg-buildpackage -b -us -uc)
mkdir -p "$out"
cp "$work"/rigcal_*.deb "$work"/rigcal_*.buildinfo "$work"/rigcal_*.changes "$out"
package=$(ls -t "$out"/rigcal_*.deb | head -n 1)
echo "Package: $package"

[[ -z $try ]] || scripts/try_package.sh "$package"
