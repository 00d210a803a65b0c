#!/usr/bin/env bash
# Builds the wheel without isolation and calibrates with it from an environment of its own.
#   check_wheel.sh PYTHON SOURCE_DIR
# 77: scikit-build-core, venv or pip is not there.
set -euo pipefail

python=$1
source_dir=$2
for module in pip venv scikit_build_core; do
  "$python" -c "import $module" 2>/dev/null || {
    echo "SKIPPED: $python has no $module; pip install scikit-build-core brings it"
    exit 77
  }
done

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$python" -m pip wheel --quiet --no-build-isolation --no-deps --wheel-dir "$folder" "$source_dir"
# What the wheel depends on is the system's; the package comes from the wheel alone.
"$python" -m venv --system-site-packages "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-deps "$folder"/rigcal-*.whl
cd "$folder"
"$folder/venv/bin/python" "$source_dir/tests/python/try_package.py" "$source_dir/configs"
