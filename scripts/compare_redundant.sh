#!/usr/bin/env bash
# Compares motion and loads from redundant sensors between rigcal and iDynTree's BERDY; runs iCub.
set -euo pipefail

usage() {
  cat <<'USAGE'
Usage: scripts/compare_redundant.sh [OUTPUT_FOLDER]

Runs `rigcal-study redundant` (chains of ten links without encoders), lets iDynTree's BERDY estimate
the same draws with the same sensors and priors, and runs the study of iCub's 25 joints with the
encoders of elbows and wrists withheld. Prints tables, also left in OUTPUT_FOLDER (default:
out/redundant): chain/index.html, berdy.md, robot/index.html.

iDynTree, numpy and example-robot-data come from PyPI into a Python environment of their own, once;
nothing else in this project needs them. rigcal and rigcal-study must have been built.

  RIG_REDUNDANT=DIR   where the Python environment lives (default: ~/.cache/rigcal-redundant)
  RIG_RIGCAL=FILE     rigcal, with rigcal-study beside it (default: build/bin/rigcal)
USAGE
}

cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=out/redundant
while (($# > 0)); do
  case $1 in
    -h | --help) usage; exit 0 ;;
    -*) usage >&2; exit 1 ;;
    *) out=$1; shift ;;
  esac
done
environment=${RIG_REDUNDANT:-$HOME/.cache/rigcal-redundant}
rigcal=${RIG_RIGCAL:-build/bin/rigcal}

name=compare_redundant
source scripts/peers/environment.sh

peers_environment "$environment" RIG_REDUNDANT idyntree numpy example-robot-data
mkdir -p "$out"
export PYTHONDONTWRITEBYTECODE=1
# A study that misses a goal exits with a nonzero status and reports it.
"$rigcal-study" redundant --out "$out/chain" || true
"$environment/bin/python" scripts/redundant/compare.py "$out/chain/draws.jsonl" --out "$out/berdy.md"
"$environment/bin/python" scripts/redundant/robot.py --rigcal "$rigcal" --out "$out/icub.textproto"
cp scripts/redundant/study.textproto "$out/study.textproto"
"$rigcal-study" "$out/study.textproto" --out "$out/robot" || true
