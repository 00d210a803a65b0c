#!/usr/bin/env bash
# Tests rigcal with inertial sensors that MuJoCo simulates, including faults of real sensors.
set -euo pipefail

usage() {
  cat <<'USAGE'
Usage: scripts/compare_inertial.sh [OPTIONS]

MuJoCo simulates a Furuta pendulum with an inertial sensor on each arm, with unknown orientations,
positions, biases and noise. Variants have a delay, non-orthogonal axes, or a low-pass filter.
rigcal calibrates rig and sensors, with both encoders and with the first encoder only. The table
contains the errors of the second angle and of all sensor constants.

MuJoCo and numpy come from PyPI into a separate Python environment, once. No other part of this
project needs them.

  scripts/compare_inertial.sh
  scripts/compare_inertial.sh --draws 50 --seconds 10 --seed 2

  RIG_PEERS=DIR     folder of the Python environment (default: ~/.cache/rigcal-inertial)
  RIG_RIGCAL=FILE   the program to test (default: build/bin/rigcal)
USAGE
}

source "$(dirname "${BASH_SOURCE[0]}")/peers/environment.sh"
make_python_environment RIG_PEERS ~/.cache/rigcal-inertial mujoco numpy
"$python" scripts/peers/inertial_source.py --rigcal "$rigcal" "$@"
