#!/usr/bin/env bash
# Tests rigcal on inertial sensors simulated by MuJoCo, with the faults of real ones.
set -euo pipefail

usage() {
  cat <<'USAGE'
Usage: scripts/compare_inertial.sh [OPTIONS]

MuJoCo simulates a Furuta pendulum with an inertial sensor on each arm, with unknown orientations,
positions, biases and noise; with a delay; with axes that are not perpendicular; behind a low-pass.
rigcal calibrates rig and sensors, with both encoders and with only the first; the table shows how
accurately it estimates the second angle and all constants.

MuJoCo and numpy come from PyPI into a Python environment of their own, once; nothing else in this
project needs them.

  scripts/compare_inertial.sh
  scripts/compare_inertial.sh --draws 50 --seconds 10 --seed 2

  RIG_PEERS=DIR     folder of the Python environment (default: ~/.cache/rigcal-inertial)
  RIG_RIGCAL=FILE   the program to judge (default: build/bin/rigcal)
USAGE
}

cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [[ ${1:-} == -h || ${1:-} == --help ]]; then
  usage
  exit 0
fi
environment=${RIG_PEERS:-$HOME/.cache/rigcal-inertial}
rigcal=${RIG_RIGCAL:-build/bin/rigcal}
name=compare_inertial
source scripts/peers/environment.sh

peers_environment "$environment" RIG_PEERS mujoco numpy
PYTHONDONTWRITEBYTECODE=1 "$environment/bin/python" scripts/peers/inertial_source.py \
  --rigcal "$rigcal" "$@"
