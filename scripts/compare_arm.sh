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

source "$(dirname "${BASH_SOURCE[0]}")/peers/environment.sh"
parse_output_folder out/arm "$@"
make_python_environment RIG_ARM ~/.cache/rigcal-arm pin 'mujoco[sysid]' numpy
mkdir -p "$out"
# A study that misses a goal exits with a nonzero status and reports it.
"$rigcal-study" "${RIG_ARM_CONFIG:-arm}" --out "$out/study" || true
"$python" scripts/peers/arm_source.py "$out/study/draws.jsonl" | tee "$out/pinocchio.md"
"$python" scripts/peers/arm_mujoco.py "$out/study/draws.jsonl" | tee "$out/mujoco.md"
