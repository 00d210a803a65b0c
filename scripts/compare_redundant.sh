#!/usr/bin/env bash
# Compares estimates from redundant sensors between rigcal and iDynTree's BERDY, and studies iCub.
set -euo pipefail

usage() {
  cat <<'USAGE'
Usage: scripts/compare_redundant.sh [OUTPUT_FOLDER]

Runs `rigcal-study redundant` (random chains of ten links without encoders). iDynTree's BERDY then
estimates the same states with the same sensors and priors. Finally runs the study of iCub's 25 joints
with held-out encoders of elbows and wrists. Prints tables, also written to OUTPUT_FOLDER (default:
out/redundant): chain/index.html, berdy.md, robot/index.html.

iDynTree, numpy and example-robot-data come from PyPI into a separate Python environment, once. No
other part of this project needs them. rigcal-study must have been built.

  RIG_REDUNDANT=DIR   folder of the Python environment (default: ~/.cache/rigcal-redundant)
  RIG_RIGCAL=FILE     rigcal, with rigcal-study beside it (default: build/bin/rigcal)
USAGE
}

source "$(dirname "${BASH_SOURCE[0]}")/peers/environment.sh"
parse_output_folder out/redundant "$@"
make_python_environment RIG_REDUNDANT ~/.cache/rigcal-redundant idyntree numpy example-robot-data
mkdir -p "$out"
# A study that misses a goal exits with a nonzero status and reports it.
"$rigcal-study" redundant --out "$out/chain" || true
"$python" scripts/redundant/compare.py "$out/chain/draws.jsonl" --out "$out/berdy.md"
"$python" scripts/redundant/robot.py --rigcal "$rigcal" --out "$out/icub.textproto"
cp scripts/redundant/study.textproto "$out/study.textproto"
"$rigcal-study" "$out/study.textproto" --out "$out/robot" || true
