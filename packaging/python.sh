#!/usr/bin/env bash
# The wheels for PyPI, whose sources are in packaging/python.
#
#   packaging/python.sh pack v1.2.3 DIST OUT   makes a wheel for each platform. DIST is what goreleaser built, OUT an empty or
#                                              new directory
#   packaging/python.sh push OUT               pushes them, with the token in PYPI_TOKEN
#
# pack needs Python 3.10, and push twine. bin/THIRD-PARTY-LICENSES.txt, which goreleaser makes too, comes into the wheels.
set -euo pipefail
cd "$(dirname "$0")/.."

# The programs are static, so each fits every distribution of Linux. macOS 12 is the oldest that Go supports.
readonly PLATFORMS=(
  linux_amd64:manylinux2014_x86_64.manylinux_2_17_x86_64.musllinux_1_1_x86_64
  linux_arm64:manylinux2014_aarch64.manylinux_2_17_aarch64.musllinux_1_1_aarch64
  darwin_amd64:macosx_12_0_x86_64
  darwin_arm64:macosx_12_0_arm64
  windows_amd64:win_amd64
  windows_arm64:win_arm64
)

fail() { echo "packaging/python.sh: $*" >&2; exit 1; }

# program prints the path of the program for a platform. goreleaser has a directory for each: linux_linux_amd64_v1.
program() { # dist, platform
  local found=("$1"/*_"$2"*/minibus*)
  [[ ${#found[@]} == 1 && -e ${found[0]} ]] || fail "$1 has not one program for $2: ${found[*]}"
  echo "${found[0]}"
}

pack() { # version, dist, out
  local version=${1#v} platform path
  for platform in "${PLATFORMS[@]}"; do
    [[ -z ${LINUX_ONLY:-} || $platform == linux_* ]] || continue # as in .goreleaser.yaml
    path=$(program "$2" "${platform%%:*}")
    python3 -B packaging/python/wheel.py "$version" "${platform#*:}" "$path" "$3"
  done
}

push() { # out
  [[ -n ${PYPI_TOKEN:-} ]] || fail "set PYPI_TOKEN to a token that may upload minibus"
  TWINE_USERNAME=__token__ TWINE_PASSWORD=$PYPI_TOKEN twine upload --non-interactive --skip-existing "$1"/*.whl
}

case ${1:-} in
  pack) [[ $# == 4 ]] || fail "pack VERSION DIST OUT"; pack "$2" "$3" "$4" ;;
  push) [[ $# == 2 ]] || fail "push OUT"; push "$2" ;;
  *) fail "pack VERSION DIST OUT, or push OUT" ;;
esac
