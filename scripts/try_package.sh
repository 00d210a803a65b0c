#!/usr/bin/env bash
# Tests a Debian package of rigcal in a minimal system.
set -euo pipefail

usage() {
  cat <<'USAGE'
Usage: scripts/try_package.sh PACKAGE.deb

As root: installs the package in a fresh Debian 12 made with mmdebstrap, runs the programs, removes it,
and checks that nothing is left.
USAGE
}

case "${1:-}" in
  -h | --help) usage; exit 0 ;;
  "") usage >&2; exit 2 ;;
esac
package=$1
[[ -r $package ]] || { echo "try_package.sh: $package cannot be read" >&2; exit 1; }
((EUID == 0)) || { echo "try_package.sh: only root can create the test system" >&2; exit 1; }
if ! command -v mmdebstrap >/dev/null; then
  echo "try_package.sh: mmdebstrap is missing; apt-get install mmdebstrap" >&2
  exit 1
fi

chroot=$(mktemp -d) before=$(mktemp) after=$(mktemp)
trap 'rm -f "$before" "$after"; rm -rf --one-file-system "$chroot"' EXIT
mmdebstrap --variant=apt --quiet bookworm "$chroot"
cp "$package" "$chroot/tmp/rigcal.deb"
chroot "$chroot" apt-get update -qq
inside() { chroot "$chroot" env LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
# Folders created by the package do not exist before its installation.
files() { (cd "$chroot" && { find etc usr lib var/lib/rigcald run -xdev ! -type d 2>/dev/null || true; } | sort); }

files >"$before"
inside apt-get install -y -qq --no-install-recommends /tmp/rigcal.deb >/dev/null
for program in rigcal rigcal-daq rigcal-sim rigcald; do inside "$program" --version; done
inside rigcal info /usr/share/rigcal/configs/rig-furuta.textproto >/dev/null
inside sh -c 'cd /tmp && rigcal simulate --rig /usr/share/rigcal/configs/rig-pendulum.textproto \
  --scenario /usr/share/rigcal/configs/scenario-pendulum-release.textproto --out run.csv'
inside test -e /lib/systemd/system/rigcald.service
inside test -e /etc/rigcald/daemon.textproto
inside apt-get purge -y -qq rigcal >/dev/null
inside apt-get autoremove -y -qq --purge >/dev/null
files >"$after"
left=$(comm -13 "$before" "$after" | grep -v -E '^(etc/ld.so.cache|var/|usr/share/mime|etc/.*-$)' || true)
if [[ -n $left ]]; then
  echo "try_package.sh: files left after purging:" >&2
  echo "$left" >&2
  exit 1
fi
echo "Installed, ran and removed without leftovers."
