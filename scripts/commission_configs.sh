#!/usr/bin/env bash
# Repeats the commissioning of the rig files in configs/ with the simulated unit.
set -euo pipefail

usage() {
  cat <<'USAGE'
Usage: scripts/commission_configs.sh

Runs `rigcal-daq commission` on the rig files in configs/ that have a unit section, against rigcal-sim,
with automatic answers to its prompts. Run this script after a change of a rig file's unit section,
safety section, encoders or motors, or of the simulated unit. After such a change the test
Commission.ShippedRigsAreCommissioned fails. Needs both programs in build/bin.
USAGE
}

case "${1:-}" in
  -h | --help) usage; exit 0 ;;
esac

cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT

# Performs the action that a prompt requests, and prints the answer. The arm of the simulated Furuta
# pendulum is slightly tilted. After a release the arm comes to rest only where it points downhill.
obey() {
  case $1 in
    *"Do not touch the rig"*) echo "1 0" >&3; [[ $joints == 1 ]] || echo "2 0" >&3 ;;
    *"Turn joint \"$first\""*) echo "1 1.5708" >&3 ;;
    *"Turn joint \"2\""*) echo "2 1.5708" >&3 ;;
    *"Move joint \"$first\""*) echo "1 0" >&3 ;;
    *"Move joint \"2\""*) echo "2 0" >&3 ;;
    *"Release the brake"*) echo "1 2.16" >&3; sleep 1.5; echo release >&3 ;;
    *"Keep clear"*) ;;
    *"Write them?"*) echo y >&4; return ;;
    *) return ;;
  esac
  sleep 1.5
  echo >&4
}

# commission RIG SIMULATION FIRST_JOINT JOINT_COUNT
commission() {
  local rig=$1 simulation=$2
  first=$3 joints=$4
  rm -f "$work"/*
  mkfifo "$work/hand" "$work/answers"
  build/bin/rigcal-sim --config "$simulation" --link "$work/unit" --hand \
    <"$work/hand" >"$work/sim.log" &
  local sim=$!
  exec 3>"$work/hand"
  until [[ -e $work/unit ]]; do sleep 0.05; done
  # Remove the old record, so that the program writes a new one.
  sed -i '/^  commissioned {/d' "$rig"
  build/bin/rigcal-daq commission --rig "$rig" --url "pty://$work/unit" \
    <"$work/answers" >"$work/daq.log" 2>&1 &
  local daq=$!
  exec 4>"$work/answers"
  while read -r line; do
    echo "$line"
    obey "$line"
  done < <(tail --pid="$daq" -n +1 -f "$work/daq.log")
  wait "$daq"
  exec 3>&- 4>&-
  kill -INT "$sim"
  wait "$sim" || true
  rm -f "$rig".before-commission* "$rig".commissioned.json
}

commission configs/rig-furuta.textproto configs/sim-furuta-hanging.textproto 1 2
commission configs/rig-pendulum.textproto configs/sim-pendulum.textproto pivot 1
