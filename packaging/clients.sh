#!/usr/bin/env bash
# The typed client of the control API, made from clients/openapi.json and what is written by hand in clients/python.
#
#   packaging/clients.sh make DIR           makes it in a new directory: DIR/python
#   packaging/clients.sh pack v1.2.3 OUT    makes the package of a release, which pip installs
#
# It needs Python 3.10 with venv. PYTHON names an interpreter that has the packages of clients/python/requirements.txt; without it
# they are installed in a virtual environment for the time being.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() { echo "packaging/clients.sh: $*" >&2; exit 1; }

make_clients() { # directory
  local python=${PYTHON:-}
  [[ ! -e $1 ]] || fail "$1 exists"
  mkdir -p "$1"
  tar -C clients --exclude=__pycache__ -c . | tar -C "$1" -x
  if [[ -z $python ]]; then
    python3 -m venv "$work/venv"
    python=$work/venv/bin/python
    "$python" -m pip install -q --disable-pip-version-check --no-deps -r clients/python/requirements.txt
  fi
  (cd "$1/python" && "$python" -m openapi_python_client generate --path ../openapi.json --meta none --config generate.yaml \
    --output-path minibus_control/rest --overwrite --fail-on-warning)
}

pack() { # version, out
  local version=${1#v} out
  [[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || fail "$1 is no version such as v1.2.3 or v1.2.3-rc.1"
  out=$(realpath -m "$2")
  mkdir -p "$out"
  make_clients "$work/clients"
  sed -i "s/^version = .*/version = \"$version\"/" "$work/clients/python/pyproject.toml"
  python3 -m pip wheel -q --disable-pip-version-check --no-deps -w "$out" "$work/clients/python"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
case ${1:-} in
  make) [[ $# == 2 ]] || fail "make DIR"; make_clients "$2" ;;
  pack) [[ $# == 3 ]] || fail "pack VERSION OUT"; pack "$2" "$3" ;;
  *) fail "make DIR, or pack VERSION OUT" ;;
esac
