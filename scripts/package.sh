#!/usr/bin/env bash
# Builds the Debian package, and tries it in a system that has nothing else.
set -euo pipefail

usage() {
  cat <<'USAGE'
Usage: scripts/package.sh [--try] [FOLDER]

Builds rigcal's Debian package from the tree as it is committed, into FOLDER (default: out/package).
Needs dpkg-dev, debhelper and the packages of scripts/install_dependencies.sh demo.

  --try   afterwards, as root: install it in a fresh Debian 12 made with mmdebstrap, run the programs,
          remove it, and look for what it left
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
chroot=
trap 'rm -rf "$work"; [[ -z $chroot ]] || rm -rf --one-file-system "$chroot"' EXIT
git archive --prefix=rigcal/ HEAD | tar -x -C "$work"
(cd "$work/rigcal" && dpkg-buildpackage -b -us -uc)
mkdir -p "$out"
cp "$work"/rigcal_*.deb "$work"/rigcal_*.buildinfo "$work"/rigcal_*.changes "$out"
package=$(ls -t "$out"/rigcal_*.deb | head -n 1)
echo "Package: $package"
[[ -n $try ]] || exit 0

chroot=$(mktemp -d)
mmdebstrap --variant=apt --quiet bookworm "$chroot"
cp "$package" "$chroot/tmp/rigcal.deb"
chroot "$chroot" apt-get update -qq
inside() { chroot "$chroot" env LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
files() { (cd "$chroot" && find etc usr lib var/lib/rigcald run -xdev ! -type d 2>/dev/null | sort); }

files >"$work/before"
inside apt-get install -y -qq --no-install-recommends /tmp/rigcal.deb >/dev/null
for program in rigcal rigcal-daq rigcal-sim rigcald; do inside "$program" --version; done
inside rigcal info /usr/share/rigcal/configs/rig-furuta.textproto >/dev/null
inside sh -c 'cd /tmp && rigcal simulate --rig /usr/share/rigcal/configs/rig-pendulum.textproto \
  --scenario /usr/share/rigcal/configs/scenario-pendulum-release.textproto --out run.csv'
inside test -e /lib/systemd/system/rigcald.service
inside test -e /etc/rigcald/daemon.textproto
inside apt-get purge -y -qq rigcal >/dev/null
inside apt-get autoremove -y -qq --purge >/dev/null
files >"$work/after"
left=$(comm -13 "$work/before" "$work/after" | grep -v -E '^(etc/ld.so.cache|var/|usr/share/mime|etc/.*-$)' || true)
if [[ -n $left ]]; then
  echo "package.sh: purged, and these are left:" >&2
  echo "$left" >&2
  exit 1
fi
echo "Installed, ran, and left nothing."
