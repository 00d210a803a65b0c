#!/usr/bin/env bash
# Runs everything on one machine: simulated rig, real-time recording, calibration by the service.
set -euo pipefail

usage() {
  cat <<'USAGE'
Usage: scripts/demo.sh [OUTPUT_FOLDER]

Installs missing Debian packages and builds the programs. Then starts the calibration service and a
simulated Furuta pendulum with encoders of 4096 counts a turn, records a release, a swing-up and a
pulse at 1 kHz, calibrates all three jointly, and prints the estimates beside the parameters of the
simulation. Takes one to two minutes after the build, most of it the recordings. Recordings, reports
and logs go to OUTPUT_FOLDER (default: out/demo).
USAGE
}

case "${1:-}" in
  -h | --help) usage; exit 0 ;;
esac

cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=${1:-out/demo}
rig=configs/rig-furuta.textproto

# Ends the demo with a message and the relevant log, if any.
fail() {
  echo "demo: $1" >&2
  if [[ -n ${2:-} && -s $2 ]]; then
    tail -n 5 "$2" >&2
    echo "demo: the whole log is $2" >&2
  fi
  exit 1
}

# Background programs, terminated when the demo exits in any way.
children=()
end_children() {
  ((${#children[@]} == 0)) && return
  kill -TERM "${children[@]}" 2>/dev/null || true
  wait "${children[@]}" 2>/dev/null || true
  children=()
}
trap end_children EXIT
trap 'echo; echo "demo: stopped" >&2; exit 130' INT TERM

# Starts a program in the background and waits until a line of its log matches.
# Sets `child` and `matched`.
start() {
  local log=$1 pattern=$2
  shift 2
  "$@" >"$log" 2>&1 &
  child=$!
  children+=("$child")
  for _ in {1..200}; do
    if matched=$(grep -m 1 -o -E "$pattern" "$log" 2>/dev/null); then return; fi
    kill -0 "$child" 2>/dev/null || fail "$(basename "$1") did not start." "$log"
    sleep 0.05
  done
  fail "$(basename "$1") was not ready within 10 s." "$log"
}

# record SIMULATION SCENARIO: starts a new simulated rig for each run.
record() {
  echo
  echo "== $2 =="
  start "$out/logs/rigcal-sim-$2.log" '^pty://[^?]+' \
    build/bin/rigcal-sim --config "configs/$1.textproto"
  build/bin/rigcal-daq run --rig "$rig" --url "$matched" --service "$server" \
    --scenario "configs/scenario-$2.textproto" --out "$out/$2.mcap" ||
    fail "recording the $2 failed, see above. If this computer pauses for 250 ms, the unit trips." \
      "$out/logs/rigcal-sim-$2.log"
  [[ ! -e $out/$2.mcap.spool ]] ||
    fail "the service did not store the recording of the $2." "$out/logs/rigcald.log"
  end_child "$child"
}

end_child() {
  kill -TERM "$1" && wait "$1" || true
  local kept=() pid
  for pid in "${children[@]}"; do [[ $pid == "$1" ]] || kept+=("$pid"); done
  children=("${kept[@]}")
}

# A configured build folder keeps its settings; a new one builds no tests.
scripts/install_dependencies.sh demo
if [[ ! -e build/build.ninja ]]; then
  cmake --preset release -DRIG_TESTS=OFF -DRIG_BENCH=OFF --log-level=WARNING
fi
cmake --build --preset release --parallel "${RIG_JOBS:-$(nproc)}" \
  --target rigcal --target rigcald --target rigcal-daq --target rigcal-sim

SECONDS=0
mkdir -p "$out/logs"
# Remove results of an earlier demo, because rigcal-daq overwrites no file.
rm -rf "$out/service" "$out"/{release,swing-up,pulse}.mcap "$out"/{release,swing-up,pulse}.mcap.spool

start "$out/logs/rigcald.log" 'listens at 127\.0\.0\.1:[0-9]+' \
  build/bin/rigcald --data "$out/service" --listen 127.0.0.1:0
server=${matched#listens at }
echo "The calibration service is at $server."

record sim-furuta-hanging pulse
record sim-furuta-hanging swing-up
record sim-furuta release

echo
echo "== Calibration =="
build/bin/rigcal sessions --server "$server"
echo
build/bin/rigcal calibrate session:release session:swing-up session:pulse --rig "$rig" \
  --server "$server" --job demo --json "$out/result.json" --plot "$out/report.html" ||
  fail "the calibration failed, see above." "$out/logs/rigcald.log"
build/bin/rigcal report demo --server "$server" --cross-validation \
  --out "$out/cross-validation.html" >/dev/null ||
  fail "there is no cross-validation." "$out/logs/rigcald.log"

echo
echo "== Estimates and parameters of the simulation =="
build/bin/rigcal result demo --server "$server" --truth configs/sim-furuta.textproto ||
  fail "the comparison failed, see above." "$out/logs/rigcald.log"

echo
echo "Report:             $out/report.html"
echo "Cross-validation:   $out/cross-validation.html"
echo "Recordings (MCAP):  $out/{release,swing-up,pulse}.mcap"
echo "Done in $((SECONDS / 60)) min $((SECONDS % 60)) s after the build."
