# Shared by the scripts that compare rigcal with other software. A script defines usage() and sources
# this file, which changes to the checkout, sets `rigcal`, and prints the usage if it is requested.

[[ ${1:-} != -h && ${1:-} != --help ]] || { usage; exit 0; }
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
rigcal=${RIG_RIGCAL:-build/bin/rigcal}
export PYTHONDONTWRITEBYTECODE=1

fail() {
  echo "$(basename "$0" .sh): $1" >&2
  exit 1
}

# Parses the arguments [OUTPUT_FOLDER] [-- OPTIONS] into `out` and the array `options`.
#   parse_output_folder DEFAULT_FOLDER ARGUMENT...
parse_output_folder() {
  out=$1
  shift
  while (($# > 0)); do
    case $1 in
      --) shift; break ;;
      -*) usage >&2; exit 1 ;;
      *) out=$1; shift ;;
    esac
  done
  options=("$@")
}

# Makes a Python environment with packages from PyPI, once, and sets `environment` and `python`. The
# environment variable VARIABLE, if set, gives the folder of the Python environment.
#   make_python_environment VARIABLE DEFAULT_FOLDER PACKAGE...
make_python_environment() {
  local variable=$1
  environment=${!variable:-$2} python=$environment/bin/python
  shift 2
  [[ -x $rigcal ]] ||
    fail "there is no program $rigcal: cmake --build --preset release --target rigcal"
  python3 -c 'import ensurepip, venv' 2>/dev/null ||
    fail "python3-venv is missing: apt-get install python3-venv"
  # The file marks a complete installation of the same packages; others are made again.
  [[ $(cat "$environment/installed" 2>/dev/null) != "$*" ]] || return 0
  echo "Installing $* from PyPI into $environment" >&2
  python3 -m venv --clear "$environment" ||
    fail "cannot make a Python environment in $environment; set $variable to another folder."
  "$environment/bin/pip" --disable-pip-version-check install --quiet --retries 1 --timeout 15 "$@" ||
    fail "pip could not install the packages, see above; PyPI (https://pypi.org) must be reachable."
  echo "$*" >"$environment/installed"
}
