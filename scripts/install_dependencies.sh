#!/usr/bin/env bash
# Installs the Debian packages that rigcal needs and that are missing.
set -euo pipefail

usage() {
  cat <<'USAGE'
Usage: scripts/install_dependencies.sh [demo|test|lint]

Installs the Debian 12 packages that are missing (as root, or through sudo):
  demo   packages to build and run the programs
  test   packages of demo, and packages for tests and benchmarks (the default)
  lint   clang-format and clang-tidy, for scripts/format.sh and scripts/tidy.sh
USAGE
}

demo_packages=(ca-certificates ccache clang-16 cmake g++ git libasio-dev libboost-dev libcli11-dev libeigen3-dev
  libhdf5-dev libfmt-dev liblz4-dev libmatio-dev libprotobuf-dev libserialport-dev libspdlog-dev
  libsqlite3-dev libssl-dev libtinyxml2-dev libzstd-dev ninja-build pkg-config protobuf-compiler zlib1g-dev)
test_packages=("${demo_packages[@]}" gcc-arm-none-eabi qemu-system-arm libbenchmark-dev libceres-dev libclang-rt-16-dev libgtest-dev libopenblas-dev
  mypy nodejs openssl pybind11-dev python3-dev python3-ipykernel python3-matplotlib python3-nbclient
  python3-numpy python3-pandas python3-protobuf python3-pytest python3-venv)
# npm installs the official MCAP reader; Node.js of other sources includes npm.
command -v npm >/dev/null || test_packages+=(npm)
lint_packages=("${test_packages[@]}" clang-format clang-tidy)

case "${1:-test}" in
  demo) packages=("${demo_packages[@]}") ;;
  test) packages=("${test_packages[@]}") ;;
  lint) packages=("${lint_packages[@]}") ;;
  -h | --help) usage; exit 0 ;;
  *) usage >&2; exit 2 ;;
esac

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  echo "install_dependencies.sh: this is not a Debian system. Install packages that correspond to:" >&2
  echo "  ${packages[*]}" >&2
  echo "and build by hand, see docs/developing.md." >&2
  exit 1
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null || true)
  [[ $status == "install ok installed" ]] || missing+=("$package")
done
((${#missing[@]} > 0)) || exit 0

as_root=()
if ((EUID != 0)); then
  if ! command -v sudo >/dev/null; then
    echo "install_dependencies.sh: missing packages, and neither root nor sudo. Ask for:" >&2
    echo "  apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "Installing: ${missing[*]}"
if ! {
  "${as_root[@]}" apt-get update -qq &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
      --no-install-recommends "${missing[@]}"
} >"$log" 2>&1; then
  tail -n 20 "$log" >&2
  echo "install_dependencies.sh: apt-get failed, see above. Needed: ${missing[*]}" >&2
  exit 1
fi
