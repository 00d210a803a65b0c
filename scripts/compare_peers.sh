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

cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=out/peers
while (($# > 0)); do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --) shift; break ;;
    -*) usage >&2; exit 1 ;;
    *) out=$1; shift ;;
  esac
done
environment=${RIG_PEERS:-$HOME/.cache/rigcal-peers}
rigcal=${RIG_RIGCAL:-build/bin/rigcal}

name=compare_peers
source scripts/peers/environment.sh

command -v gcc >/dev/null || fail "gcc is missing: apt-get install gcc"
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
  fail "mujoco[sysid] needs Python 3.11 or newer."

peers_environment "$environment" RIG_PEERS casadi 'mujoco[sysid]' numpy scipy
"$environment/bin/python" -c 'from mujoco.sysid import optimize' 2>/dev/null ||
  fail "the mujoco in $environment has no sysid toolbox; remove the folder and run again."

PYTHONDONTWRITEBYTECODE=1 "$environment/bin/python" scripts/peers/compare.py \
  --rigcal "$rigcal" --out "$out" "$@"
