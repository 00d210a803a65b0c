#!/usr/bin/env bash
# Builds the wheel as its users do, installs it in an empty environment, and calibrates with it.
#   check_wheel.sh PYTHON SOURCE_DIR C_COMPILER CXX_COMPILER [CMAKE_DEFINE...]
# Exits with 77 without access to PyPI.
set -euo pipefail

python=$1
source_dir=$2
# With the same compilers ccache already has the other build's objects.
export CC=$3 CXX=$4
shift 4
settings=()
for define in "$@"; do settings+=("--config-settings=cmake.define.$define"); done

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$python" -m venv "$folder/builder"
if ! "$folder/builder/bin/pip" download --quiet --retries 1 --timeout 20 --no-deps --dest "$folder" \
  scikit-build-core 2>"$folder/pip.log"; then
  tail -n 1 "$folder/pip.log"
  echo "SKIPPED: PyPI cannot be reached, so that no wheel was built; run this test with a network"
  exit 77
fi

"$folder/builder/bin/pip" wheel --quiet --no-deps --wheel-dir "$folder" "${settings[@]}" "$source_dir"
built=$SECONDS
"$python" -m venv "$folder/user"
"$folder/user/bin/pip" install --quiet "$folder"/rigcal-*.whl
installed=$SECONDS
cd "$folder"
"$folder/user/bin/python" -I "$source_dir/tests/python/try_package.py" "$source_dir/configs"
echo "wheel built in $built s, installed in $((installed - built)) s, tried in $((SECONDS - installed)) s"
