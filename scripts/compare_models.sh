#!/usr/bin/env bash
# Compares exported models (FMU, CasADi, URDF, MJCF) with rigcal's own equations.
set -euo pipefail

usage() {
  cat <<'USAGE'
Usage: scripts/compare_models.sh

Exports the Furuta pendulum of configs as FMU and CasADi function. FMPy checks the description of
the FMU, compiles its source, and simulates a chirp and a release with both binaries; the angles are
compared with `rigcal simulate`. Accelerations of the CasADi function are compared with differences
of the simulated speeds. Accelerations of MuJoCo (MJCF) and Pinocchio (URDF) are compared with those
of the CasADi function for four rigs of configs without friction. The exit status is 1 if any
difference is above its limit.

All packages come from PyPI into a separate Python environment, once. FMPy compiles with cmake.

  RIG_MODELS=DIR    folder of the Python environment (default: ~/.cache/rigcal-models)
  RIG_RIGCAL=FILE   the program to compare (default: build/bin/rigcal)
USAGE
}

source "$(dirname "${BASH_SOURCE[0]}")/peers/environment.sh"
make_python_environment RIG_MODELS ~/.cache/rigcal-models fmpy casadi numpy mujoco pin
status=0
"$python" scripts/peers/exported_models.py --rigcal "$rigcal" "$@" || status=1
"$python" scripts/peers/exported_robots.py --rigcal "$rigcal" "$@" || status=1
exit $status
