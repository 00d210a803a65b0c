#!/usr/bin/env bash
# Boots systemd in its own namespaces on a temporary copy of this machine, with the installed and
# hardened rigcald.service. Checks that the service becomes ready, that a calibration runs inside,
# that the watchdog is triggered, that a hanging service is restarted and still has its job, and that
# it stops in order. Needs root and about three minutes. Changes nothing outside.
#   tests/systemd/boot_unit.sh [BIN]     default build/bin
set -euo pipefail

check() {  # inside, as a unit after rigcald.service
  rigcal() { /usr/local/bin/rigcal "$@" --server 127.0.0.1:7330; }
  show() { systemctl show rigcald --value -p "$1"; }
  expect() {
    if [ "$2" = "$3" ]; then echo "ok    $1"; else echo "WRONG $1: $2, not $3"; fi
  }
  expect "ready" "$(show ActiveState) $(show SubState)" "active running"
  expect "a user of its own" "$(show User)" "rigcald"
  expect "system calls filtered" \
    "$(awk '/^Seccomp:/ { print $2 }' "/proc/$(show MainPID)/status")" 2
  /usr/local/bin/rigcal simulate --rig /trial/rig.textproto --scenario /trial/swing.textproto \
    --start pendulum.J_zz=0.0012 --out /trial/swing.csv >/dev/null
  expect "calibrates" "$(rigcal calibrate /trial/swing.csv --rig /trial/rig.textproto --quiet \
    --job trial >/dev/null && echo yes)" yes
  sleep 65
  expect "watchdog fed for longer than its time" "$(show NRestarts)" 0
  kill -STOP "$(show MainPID)"
  sleep 75
  expect "started anew after hanging" "$(show NRestarts) $(show ActiveState)" "1 active"
  expect "the job is still there" "$(rigcal result trial >/dev/null && echo yes)" yes
  systemctl stop rigcald
  expect "stops in order" "$(show ActiveState) $(show ExecMainStatus)" "inactive 0"
  echo end
}

boot() {  # the first process of the namespaces
  local place=$1 copy=$1/copy
  mount --make-rprivate /
  mount -t tmpfs tmpfs "$place/layer"
  mkdir "$place/layer/changes" "$place/layer/work"
  mount -t overlay overlay "$copy" \
    -o "lowerdir=/,upperdir=$place/layer/changes,workdir=$place/layer/work"
  mount -t proc proc "$copy/proc"
  mount -t sysfs -o ro sysfs "$copy/sys"
  mount -t tmpfs tmpfs "$copy/sys/fs/cgroup"
  mount -t cgroup2 cgroup2 "$copy/sys/fs/cgroup"
  mount -t tmpfs tmpfs "$copy/run"
  mount -t tmpfs tmpfs "$copy/tmp"
  mount --rbind /dev "$copy/dev"
  mkdir "$copy/trial"
  mount --bind "$place/trial" "$copy/trial"
  rm -rf "$copy"/lib/systemd/system/*.target.wants "$copy"/etc/systemd/system/*.wants \
    "$copy"/lib/systemd/system-generators/*
  install -m 755 "$bin/rigcald" "$bin/rigcal" "$copy/usr/local/bin/"
  install -Dm 644 "$root/configs/daemon.textproto" "$copy/etc/rigcald/daemon.textproto"
  install -m 644 "$root/scripts/systemd/rigcald.service" "$copy/etc/systemd/system/"
  cat >"$copy/etc/systemd/system/trial.service" <<UNIT
[Unit]
DefaultDependencies=no
Wants=rigcald.service
After=rigcald.service
[Service]
Type=oneshot
ExecStart=/trial/boot_unit.sh --check
StandardOutput=file:/trial/log
StandardError=file:/trial/log
UNIT
  ip link set lo up
  exec chroot "$copy" /usr/bin/env container=other /lib/systemd/systemd --system \
    --unit=trial.service --log-target=null --show-status=0
}

if [ "${1:-}" = --check ]; then
  check
  systemctl exit 0
  exit
fi
script=$(realpath "${BASH_SOURCE[0]}")
root=$(realpath "$(dirname "$script")/../..")
if [ "${1:-}" = --boot ]; then
  bin=$3
  boot "$2"
fi
bin=$(realpath "${1:-$root/build/bin}")
[ "$(id -u)" = 0 ] || { echo "for root, who may mount" >&2; exit 2; }
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir "$place/layer" "$place/copy" "$place/trial"
cp "$script" "$place/trial/boot_unit.sh"
cp "$root/configs/rig-pendulum.textproto" "$place/trial/rig.textproto"
cat >"$place/trial/swing.textproto" <<'SCENARIO'
name: "swing" duration_s: 4
initial { joint: "pivot" angle_rad: 1 }
release { joint: "pivot" held_angle_rad: 1 held_tolerance_rad: 0.1 }
noise { angle_standard_deviation_rad: 0.0005 seed: 3 }
SCENARIO
timeout -s KILL 400 unshare --mount --pid --uts --ipc --net --cgroup --fork --kill-child \
  "$script" --boot "$place" "$bin" >/dev/null 2>&1 || true
cat "$place/trial/log"
grep -q '^end$' "$place/trial/log" && ! grep -q '^WRONG' "$place/trial/log"
