#!/usr/bin/env bash
# Tests rigcal on a leg with a four-bar linkage simulated by MuJoCo.
set -euo pipefail

usage() {
  cat <<'USAGE'
Usage: scripts/compare_leg.sh [OPTIONS]

MuJoCo simulates legs like those of `rigcal-study leg` and closes the linkage by an equality
constraint. The study then estimates each leg from one recording, with a constant ratio and with the
linkage, and predicts the torques of a second recording. Recordings and reports are in out/leg.

MuJoCo and numpy come from PyPI into a separate Python environment, once. No other part of this
project needs them. rigcal-study must have been built.

  scripts/compare_leg.sh
  scripts/compare_leg.sh --legs 10 --seconds 12 --seed 2

  RIG_PEERS=DIR     folder of the Python environment (default: ~/.cache/rigcal-inertial)
  RIG_RIGCAL=FILE   rigcal, with rigcal-study beside it (default: build/bin/rigcal)
USAGE
}

source "$(dirname "${BASH_SOURCE[0]}")/peers/environment.sh"
make_python_environment RIG_PEERS ~/.cache/rigcal-inertial mujoco numpy
"$python" scripts/peers/leg_source.py --rigcal "$rigcal" "$@"
