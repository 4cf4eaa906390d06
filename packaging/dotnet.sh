#!/usr/bin/env bash
# The packages for .NET, whose sources are in packaging/dotnet.
#
#   packaging/dotnet.sh pack v1.2.3 DIST OUT   builds, tests and packs them. DIST is what goreleaser built, OUT an empty or new directory
#   packaging/dotnet.sh push OUT               pushes them, with the key in NUGET_TOKEN
#
# It needs the .NET SDK 10 on Linux x64.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly PLATFORMS=(linux-x64 linux-arm64 osx-x64 osx-arm64 win-x64 win-arm64)

fail() { echo "packaging/dotnet.sh: $*" >&2; exit 1; }

# program prints the path of the program for a platform. goreleaser has a directory for each: linux_linux_amd64_v1.
program() { # dist, platform
  local system=${2%-*} processor=${2#*-}
  case $system in osx) system=darwin ;; win) system=windows ;; esac
  [[ $processor != x64 ]] || processor=amd64
  local found=("$1"/*_"${system}_$processor"*/minibus*)
  [[ ${#found[@]} == 1 && -e ${found[0]} ]] || fail "$1 has not one program for $2: ${found[*]}"
  echo "${found[0]}"
}

lay_out() { # dist, directory
  local platform path
  for platform in "${PLATFORMS[@]}"; do
    path=$(program "$1" "$platform")
    mkdir -p "$2/$platform"
    cp "$path" "$2/$platform/"
  done
}

pack() { # version, dist, out
  local version=${1#v} dist=$2 out kit=packaging/dotnet project platform
  [[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || fail "$1 is no version such as v1.2.3 or v1.2.3-rc.1"
  out=$(realpath -m "$3")
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  lay_out "$dist" "$work/bin"
  export MINIBUS_PATH=$work/bin/linux-x64/minibus KIT_ARTIFACTS=$work/artifacts
  dotnet build "$kit/Minibus.slnx" -m:1 -nodeReuse:false
  dotnet test "$kit/tests/Minibus.Testing.Tests" --no-build
  dotnet test "$kit/tests/Minibus.Aspire.Tests" --no-build
  for project in Minibus.Testing Minibus.Aspire.Hosting Minibus.Server Minibus.Tool; do
    dotnet pack "$kit/src/$project" -o "$out" "-p:Version=$version" "-p:MinibusBinaries=$work/bin"
  done
  for platform in "${PLATFORMS[@]}"; do
    dotnet pack "$kit/src/Minibus.Tool" -o "$out" "-p:Version=$version" "-p:MinibusBinaries=$work/bin" "-p:ToolRid=$platform"
  done
}

# push pushes the packages for single platforms before Minibus, which names them.
push() { # out
  local platform package
  [[ -n ${NUGET_TOKEN:-} ]] || fail "set NUGET_TOKEN to a key that may push"
  for platform in "${PLATFORMS[@]}"; do
    push_one "$1"/Minibus."$platform".[0-9]*.nupkg
  done
  for package in Minibus Minibus.Server Minibus.Testing Minibus.Aspire.Hosting; do
    push_one "$1/$package".[0-9]*.nupkg
  done
}

push_one() { # the file, to which a pattern was expanded
  [[ $# == 1 && -e $1 ]] || fail "not one package: $*"
  dotnet nuget push "$1" --source "${NUGET_SOURCE:-https://api.nuget.org/v3/index.json}" --api-key "$NUGET_TOKEN" --skip-duplicate
}

case ${1:-} in
  pack) [[ $# == 4 ]] || fail "pack VERSION DIST OUT"; pack "$2" "$3" "$4" ;;
  push) [[ $# == 2 ]] || fail "push OUT"; push "$2" ;;
  *) fail "pack VERSION DIST OUT, or push OUT" ;;
esac
