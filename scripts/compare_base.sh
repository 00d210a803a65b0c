#!/usr/bin/env bash
# Compares base parameters of robots between rigcal and Pinocchio's regressor.
set -euo pipefail

usage() {
  cat <<'USAGE'
Usage: scripts/compare_base.sh [OPTIONS]

Imports URDF files of PyPI's example-robot-data, lists base parameters with `rigcal info --base`, and
compares their number and span with Pinocchio's joint torque regressor over random motions. Prints a
table. The exit status is 1 if any number differs.

Pinocchio (pin) and example-robot-data come from PyPI into a separate Python environment, once. No
other part of this project needs them.

  scripts/compare_base.sh
  scripts/compare_base.sh --robot ur5_robot --robot panda

  RIG_ROBOTS=DIR    folder of the Python environment (default: ~/.cache/rigcal-robots)
  RIG_RIGCAL=FILE   the program to compare (default: build/bin/rigcal)
USAGE
}

source "$(dirname "${BASH_SOURCE[0]}")/peers/environment.sh"
make_python_environment RIG_ROBOTS ~/.cache/rigcal-robots pin example-robot-data
robots=$(find "$environment" -type d -path '*share/example-robot-data/robots' | head -1)
[[ -n $robots ]] || fail "there are no robots in $environment; remove it and run again."
"$python" scripts/peers/base_parameters.py --rigcal "$rigcal" --robots "$robots" "$@"
