#!/usr/bin/env bash
# The packages for npm, whose sources are in packaging/npm: minibus, and one with the binary for each platform.
#
#   packaging/npm.sh pack v1.2.3 DIST OUT   packs them. DIST is what goreleaser built, OUT an empty or new directory
#   packaging/npm.sh push OUT               publishes them, with the token in NPM_TOKEN
#
# It needs Node.js 20.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly PLATFORMS=(linux-x64 linux-arm64 darwin-x64 darwin-arm64 win32-x64 win32-arm64)

fail() { echo "packaging/npm.sh: $*" >&2; exit 1; }

# program prints the path of the program for a platform. goreleaser has a directory for each: linux_linux_amd64_v1.
program() { # dist, platform
  local system=${2%-*} processor=${2#*-}
  [[ $system != win32 ]] || system=windows
  [[ $processor != x64 ]] || processor=amd64
  local found=("$1"/*_"${system}_$processor"*/minibus*)
  [[ ${#found[@]} == 1 && -e ${found[0]} ]] || fail "$1 has not one program for $2: ${found[*]}"
  echo "${found[0]}"
}

# describe writes the package.json of a package: that of a platform, or without one that of minibus.
describe() { # version, directory, platform
  node - "$@" <<'JS'
const fs = require("node:fs");
const [version, directory, platform] = process.argv.slice(2);
const main = JSON.parse(fs.readFileSync("packaging/npm/package.json", "utf8"));
const { license, homepage, bugs, repository } = main;
const [os, cpu] = platform?.split("-") ?? [];
const described = platform ? {
  name: `@minibus/${platform}`, version, description: `The binary of minibus for ${platform}.`,
  license, homepage, bugs, repository, os: [os], cpu: [cpu], preferUnplugged: true,
} : { ...main, version, optionalDependencies: Object.fromEntries(Object.keys(main.optionalDependencies).map((name) => [name, version])) };
fs.writeFileSync(`${directory}/package.json`, JSON.stringify(described, null, 2) + "\n");
JS
}

pack_one() { # directory, out
  cp LICENSE "$1/"
  [[ ! -e bin/THIRD-PARTY-LICENSES.txt ]] || cp bin/THIRD-PARTY-LICENSES.txt "$1/" # which goreleaser made before
  npm pack --silent --pack-destination "$2" "$1" >/dev/null
}

pack() { # version, dist, out
  local version=${1#v} dist=$2 out platform path
  [[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || fail "$1 is no version such as v1.2.3 or v1.2.3-rc.1"
  out=$(realpath -m "$3")
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  mkdir -p "$out" "$work/minibus"
  for platform in "${PLATFORMS[@]}"; do
    path=$(program "$dist" "$platform")
    mkdir -p "$work/$platform/bin"
    cp "$path" "$work/$platform/bin/"
    chmod 755 "$work/$platform"/bin/*
    describe "$version" "$work/$platform" "$platform"
    echo "The binary of [minibus](https://www.npmjs.com/package/minibus) for $platform." >"$work/$platform/README.md"
    pack_one "$work/$platform" "$out"
  done
  cp -r packaging/npm/. "$work/minibus"
  describe "$version" "$work/minibus"
  pack_one "$work/minibus" "$out"
}

# push publishes the packages for single platforms before minibus, which names them.
push() { # out
  local platform out
  [[ -n ${NPM_TOKEN:-} ]] || fail "set NPM_TOKEN to a token that may publish"
  out=$(realpath "$1") # npm takes DIR/FILE for a repository on GitHub
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  registry=${NPM_REGISTRY:-https://registry.npmjs.org/}
  # shellcheck disable=SC2016 # npm reads the variable
  echo "//${registry#*://}:_authToken=\${NPM_TOKEN}" >"$work/npmrc"
  export NPM_CONFIG_USERCONFIG=$work/npmrc
  for platform in "${PLATFORMS[@]}"; do
    push_one "$out/minibus-$platform"-[0-9]*.tgz
  done
  push_one "$out"/minibus-[0-9]*.tgz
}

push_one() { # the file, to which a pattern was expanded
  [[ $# == 1 && -e $1 ]] || fail "not one package: $*"
  local flags=(--access public --registry "$registry") name version
  name=$(tar -xzOf "$1" package/package.json | node -p 'JSON.parse(require("fs").readFileSync(0)).name')
  version=$(tar -xzOf "$1" package/package.json | node -p 'JSON.parse(require("fs").readFileSync(0)).version')
  if [[ -n $(npm view "$name@$version" version --registry "$registry" 2>/dev/null) ]]; then
    echo "$name $version is published already"
    return
  fi
  [[ $version != *-* ]] || flags+=(--tag next)
  [[ -z ${ACTIONS_ID_TOKEN_REQUEST_URL:-} ]] || flags+=(--provenance) # where GitHub vouches for the workflow
  npm publish "$1" "${flags[@]}"
}

case ${1:-} in
  pack) [[ $# == 4 ]] || fail "pack VERSION DIST OUT"; pack "$2" "$3" "$4" ;;
  push) [[ $# == 2 ]] || fail "push OUT"; push "$2" ;;
  *) fail "pack VERSION DIST OUT, or push OUT" ;;
esac
