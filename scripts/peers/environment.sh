# Shared by the comparisons with other software; source it with `name` and `rigcal` set.

fail() {
  echo "$name: $1" >&2
  exit 1
}

# Makes a Python environment with packages from PyPI, once.
#   peers_environment FOLDER VARIABLE PACKAGE...
peers_environment() {
  local folder=$1 variable=$2
  shift 2
  [[ -x $rigcal ]] ||
    fail "there is no program $rigcal: cmake --build --preset release --target rigcal"
  python3 -c 'import ensurepip, venv' 2>/dev/null ||
    fail "python3-venv is missing: apt-get install python3-venv"
  # The file marks a complete installation; a partial one is made again.
  [[ ! -e $folder/installed ]] || return 0
  echo "Installing $* from PyPI into $folder" >&2
  python3 -m venv --clear "$folder" ||
    fail "cannot make a Python environment in $folder; set $variable to another folder."
  "$folder/bin/pip" --disable-pip-version-check install --quiet --retries 1 --timeout 15 "$@" ||
    fail "pip could not install the peers, see above; PyPI (https://pypi.org) must be reachable."
  touch "$folder/installed"
}
