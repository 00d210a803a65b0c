#!/usr/bin/env bash
# Motion and loads from redundant sensors: rigcal beside iDynTree's BERDY, and iCub.
set -euo pipefail

usage() {
  cat <<'USAGE'
Usage: scripts/compare_redundant.sh [OUTPUT_FOLDER]

Runs `rigcal study redundant` (chains of ten links without encoders), lets iDynTree's BERDY estimate
the same draws with the same sensors and priors, and runs the study of iCub's 25 joints with the
encoders of elbows and wrists withheld. Prints tables, also left in OUTPUT_FOLDER (default:
out/redundant): chain/index.html, berdy.md, robot/index.html.

iDynTree, numpy and example-robot-data come from PyPI into a Python environment of their own, once;
nothing else in this project needs them. rigcal must have been built.

  RIG_REDUNDANT=DIR   where the Python environment lives (default: ~/.cache/rigcal-redundant)
  RIG_RIGCAL=FILE     the program (default: build/bin/rigcal)
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

fail() {
  echo "compare_redundant: $1" >&2
  exit 1
}

[[ -x $rigcal ]] ||
  fail "there is no program $rigcal: cmake --build --preset release --target rigcal"
python3 -c 'import ensurepip, venv' 2>/dev/null ||
  fail "python3-venv is missing: apt-get install python3-venv"

# The mark says that an installation ended well; what was broken off is made anew.
if [[ ! -e $environment/installed ]]; then
  echo "Installing idyntree, numpy and example-robot-data from PyPI into $environment"
  python3 -m venv --clear "$environment" ||
    fail "cannot make a Python environment in $environment; set RIG_REDUNDANT to another folder."
  pip=("$environment/bin/pip" --disable-pip-version-check install --quiet --retries 1 --timeout 15)
  { "${pip[@]}" idyntree numpy && "${pip[@]}" --no-deps example-robot-data; } ||
    fail "pip could not install the packages, see above; PyPI (https://pypi.org) must be reachable."
  touch "$environment/installed"
fi

mkdir -p "$out"
export PYTHONDONTWRITEBYTECODE=1
# A study whose goals are not all reached ends with another status, and says so itself.
"$rigcal" study redundant --out "$out/chain" || true
"$environment/bin/python" scripts/redundant/compare.py "$out/chain/draws.jsonl" --out "$out/berdy.md"
"$environment/bin/python" scripts/redundant/robot.py --rigcal "$rigcal" --out "$out/icub.textproto"
cp scripts/redundant/study.textproto "$out/study.textproto"
"$rigcal" study redundant --config "$out/study.textproto" --out "$out/robot" || true
