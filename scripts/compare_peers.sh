#!/usr/bin/env bash
# Compares calibrations by rigcal, CasADi and MuJoCo's sysid, one thread each, sequentially.
set -euo pipefail

usage() {
  cat <<'USAGE'
Usage: scripts/compare_peers.sh [OUTPUT_FOLDER] [-- OPTIONS]

Makes recordings of rigs with known parameters (scipy's DOP853, 1 mrad of noise) and calibrates each
with rigcal, with multiple shooting in CasADi and with MuJoCo's system identification toolbox, from
the same initial values and bounds. Prints a table, also written to OUTPUT_FOLDER/table.md (default:
out/peers) beside recordings and results. MuJoCo needs most of the time, for the Furuta pendulum.

CasADi, MuJoCo, numpy and scipy come from PyPI into a separate Python environment, once. No
other part of this project needs them. rigcal must have been built; CasADi's compiled rows need gcc.

  scripts/compare_peers.sh
  scripts/compare_peers.sh out/peers -- --problem "pendulum, dry" --only MuJoCo
  scripts/compare_peers.sh out/peers -- --timeout 300          longest time of one program [s]

  RIG_PEERS=DIR     folder of the Python environment (default: ~/.cache/rigcal-peers)
  RIG_RIGCAL=FILE   the program to compare (default: build/bin/rigcal)
USAGE
}

source "$(dirname "${BASH_SOURCE[0]}")/peers/environment.sh"
parse_output_folder out/peers "$@"
command -v gcc >/dev/null || fail "gcc is missing: apt-get install gcc"
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
  fail "mujoco[sysid] needs Python 3.11 or newer."
make_python_environment RIG_PEERS ~/.cache/rigcal-peers casadi 'mujoco[sysid]' numpy scipy
"$python" -c 'from mujoco.sysid import optimize' 2>/dev/null ||
  fail "the mujoco in $environment has no sysid toolbox; remove the folder and run again."
"$python" scripts/peers/compare.py --rigcal "$rigcal" --out "$out" "${options[@]}"
