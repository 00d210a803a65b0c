#!/usr/bin/env bash
# Records missing data of the studies with the simulated unit, then runs the studies.
set -euo pipefail

usage() {
  cat <<'USAGE'
Usage: scripts/study.sh [--record] [KIND...] [-- OPTIONS]

Installs missing Debian packages, builds rigcal-study and rigcal-daq, records the pendulum and the Furuta
pendulum of the simulated unit if recordings are missing (about four minutes), and runs the studies
pendulum, furuta, synthetic and robustness, or only the studies that you name. Options after -- are
passed to `rigcal-study`. If you stopped a study, the script continues it.

  scripts/study.sh                          all studies; robustness takes most of the time
  scripts/study.sh synthetic                one study
  scripts/study.sh furuta -- --jobs 4
  scripts/study.sh --record                 recordings only

  RIG_DATA=DIR    evaluation data with recordings of real rigs (default: ../shared/data)
  RIG_STUDY=DIR   folder of recordings and results (default: out/study)
USAGE
}

kinds=()
record_only=
while (($# > 0)); do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --record) record_only=yes ;;
    --) shift; break ;;
    pendulum | furuta | synthetic | robustness) kinds+=("$1") ;;
    *) usage >&2; exit 1 ;;
  esac
  shift
done
((${#kinds[@]} > 0)) || kinds=(synthetic furuta pendulum robustness)

cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=${RIG_STUDY:-out/study}
recordings=$out/recordings

scripts/install_dependencies.sh
if [[ ! -e build/build.ninja ]]; then
  cmake --preset release --log-level=WARNING
fi
cmake --build --preset release --parallel "${RIG_JOBS:-$(nproc)}" --target rigcal-study rigcal-daq
mkdir -p "$recordings"

# record NAME RIG SIMULATION SCENARIO: runs the scenario unless the recording exists.
record() {
  [[ -e $recordings/$1.mcap ]] && return
  echo "recording $1"
  # Remove an unfinished recording of an earlier attempt.
  rm -f "$recordings/$1.mcap.part"
  if ! build/bin/rigcal-daq run --rig "configs/rig-$2.textproto" --url "sim:$3" \
    --scenario "$4" --out "$recordings/$1.mcap" \
    >"$recordings/$1.log" 2>&1; then
    cat "$recordings/$1.log" >&2
    rm -f "$recordings/$1.mcap"
    exit 1
  fi
}

# The five releases differ in the initial angle, as by hand, and in the error of the unit's clock.
seed=0
for start in 3.0916 3.1009 3.0847 3.0962 3.1104; do
  sed -e "s/start_angle_rad: 3.0916/start_angle_rad: $start/" \
    -e "s/clock_error_ppm: -20/clock_error_ppm: $((seed * 15 - 30))/" \
    configs/sim-pendulum.textproto >"$recordings/sim-pendulum-$seed.textproto"
  echo "seed: $seed" >>"$recordings/sim-pendulum-$seed.textproto"
  record "pendulum-$seed" pendulum "$recordings/sim-pendulum-$seed.textproto" \
    configs/scenario-pendulum-release.textproto
  seed=$((seed + 1))
done
# After 7 s of the pulse the arm approaches two turns, where the rig's safety limits end a run.
sed 's/^duration_s: .*/duration_s: 7/' configs/scenario-pulse.textproto \
  >"$recordings/scenario-pulse.textproto"
record furuta-release furuta configs/sim-furuta.textproto configs/scenario-release.textproto
record furuta-swing-up furuta configs/sim-furuta-hanging.textproto \
  configs/scenario-swing-up.textproto
record furuta-pulse furuta configs/sim-furuta-hanging.textproto \
  "$recordings/scenario-pulse.textproto"
[[ -z $record_only ]] || exit 0

for kind in "${kinds[@]}"; do
  echo "== $kind =="
  build/bin/rigcal-study "$kind" --out "$out/$kind" --recordings "$recordings" "$@"
done
