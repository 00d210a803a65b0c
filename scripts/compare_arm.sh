#!/usr/bin/env bash
# Compares rigcal on arms with regressions and MuJoCo's system identification toolbox.
set -euo pipefail

usage() {
  cat <<'USAGE'
Usage: scripts/compare_arm.sh [OUTPUT_FOLDER]

Runs `rigcal-study arm` (tests/studies/configs/study-arm.textproto), compares its random arms with Pinocchio, and
fits the first ten arms with two links at each noise level with MuJoCo's sysid. Takes four hours on
two processors.
Prints tables, also written to OUTPUT_FOLDER (default: out/arm): study/index.html, pinocchio.md, mujoco.md.

Pinocchio (pin) and mujoco[sysid] come from PyPI into a separate Python environment, once. No
other part of this project needs them. rigcal-study must have been built.

  RIG_ARM_CONFIG=FILE  another study of kind ARM
  RIG_ARM=DIR          folder of the Python environment (default: ~/.cache/rigcal-arm)
  RIG_RIGCAL=FILE      rigcal, with rigcal-study beside it (default: build/bin/rigcal)
USAGE
}

cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=out/arm
while (($# > 0)); do
  case $1 in
    -h | --help) usage; exit 0 ;;
    -*) usage >&2; exit 1 ;;
    *) out=$1; shift ;;
  esac
done
environment=${RIG_ARM:-$HOME/.cache/rigcal-arm}
rigcal=${RIG_RIGCAL:-build/bin/rigcal}

name=compare_arm
source scripts/peers/environment.sh

peers_environment "$environment" RIG_ARM pin 'mujoco[sysid]' numpy
mkdir -p "$out"
export PYTHONDONTWRITEBYTECODE=1
# A study that misses a goal exits with a nonzero status and reports it.
"$rigcal-study" "${RIG_ARM_CONFIG:-arm}" --out "$out/study" || true
"$environment/bin/python" scripts/peers/arm_source.py "$out/study/draws.jsonl" | tee "$out/pinocchio.md"
"$environment/bin/python" scripts/peers/arm_mujoco.py "$out/study/draws.jsonl" | tee "$out/mujoco.md"
