#!/usr/bin/env bash
# The packages for Java, whose sources are in packaging/java.
#
#   packaging/java.sh pack v1.2.3 DIST OUT   builds them. DIST is what goreleaser built, OUT a directory that becomes a Maven repository
#   packaging/java.sh install v1.2.3         builds them for this machine, with Go, into your local Maven repository
#   packaging/java.sh push OUT               signs and pushes them; it says below with what
#
# It needs a JDK 17 or later and Maven.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly PLATFORMS=(linux-x86_64 linux-aarch_64 osx-x86_64 osx-aarch_64 windows-x86_64 windows-aarch_64)

fail() { echo "packaging/java.sh: $*" >&2; exit 1; }

# program prints the path of the program for a platform. goreleaser has a directory for each: linux_linux_amd64_v1.
program() { # dist, platform
  local system=${2%%-*} processor=amd64
  [[ $system != osx ]] || system=darwin
  [[ $2 != *-aarch_64 ]] || processor=arm64
  local found=("$1"/*_"${system}_$processor"*/minibus*)
  [[ ${#found[@]} == 1 && -e ${found[0]} ]] || fail "$1 has not one program for $2: ${found[*]}"
  echo "${found[0]}"
}

# lay_out puts a program where the kit looks for it in its jar. The hash is its name in the user's cache.
lay_out() { # program, platform
  local dir=$work/binaries/minibus/binary/$2
  mkdir -p "$dir"
  cp "$1" "$dir/"
  { sha256sum "$1" 2>/dev/null || shasum -a 256 "$1"; } | cut -d' ' -f1 >"$dir/sha256"
}

# sources copies what Maven builds, with the version. Files of earlier builds are left behind.
sources() { # version
  [[ $1 =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || fail "$1 is no version such as v1.2.3 or v1.2.3-rc.1"
  mkdir -p "$work/binaries/META-INF" "$work/java/binary"
  cp LICENSE "$work/binaries/META-INF/LICENSE.txt"
  [[ ! -e bin/THIRD-PARTY-LICENSES.txt ]] || cp bin/THIRD-PARTY-LICENSES.txt "$work/binaries/META-INF/"
  cp packaging/java/pom.xml "$work/java/"
  cp packaging/java/binary/pom.xml "$work/java/binary/"
  mkdir "$work/java/kit"
  cp -r packaging/java/kit/pom.xml packaging/java/kit/src "$work/java/kit/"
  cp LICENSE "$work/java/kit/src/main/resources/META-INF/LICENSE.txt"
  sed -i.old "s,<version>0\.0\.0</version>,<version>${1#v}</version>," "$work"/java/pom.xml "$work"/java/*/pom.xml
}

maven() { # goal...
  mvn --batch-mode --quiet --file "$work/java/pom.xml" "-Dminibus.binaries=$work/binaries" "$@"
}

pack() { # version, dist, out
  local platform out
  out=$(realpath -m "$3")
  sources "$1"
  for platform in "${PLATFORMS[@]}"; do
    lay_out "$(program "$2" "$platform")" "$platform"
  done
  maven deploy -Dmaven.install.skip=true "-DaltDeploymentRepository=out::file://$out"
}

install() { # version
  local name=minibus
  sources "$1"
  [[ $(go env GOOS) != windows ]] || name=minibus.exe
  CGO_ENABLED=0 go build -trimpath -o "$work/$name" ./cmd/minibus
  lay_out "$work/$name" "$(go env GOOS GOARCH | paste -sd- | sed 's/darwin/osx/; s/amd64/x86_64/; s/arm64/aarch_64/')"
  maven install -Dmaven.javadoc.skip=true
}

# push uploads one bundle to Maven Central's publisher portal. CENTRAL_TOKEN is a user token of the portal, as "name:password" in base64;
# gpg signs with the secret key that it has, whose public key is on a key server.
push() { # out
  local file
  [[ -n ${CENTRAL_TOKEN:-} ]] || fail "set CENTRAL_TOKEN to a token that may publish"
  find "$1" -name 'maven-metadata.xml*' -prune -o -type f ! -name '*.md5' ! -name '*.sha*' ! -name '*.asc' -print0 |
    while IFS= read -r -d '' file; do
      gpg --batch --yes --armor --detach-sign "$file"
    done
  (cd "$1" && find io -name 'maven-metadata.xml*' -prune -o -type f -print | sort >"$work/files" &&
    jar --create --no-manifest --file "$work/bundle.zip" "@$work/files")
  curl --fail --silent --show-error --header "Authorization: Bearer $CENTRAL_TOKEN" --form "bundle=@$work/bundle.zip" \
    "${CENTRAL_URL:-https://central.sonatype.com}/api/v1/publisher/upload?publishingType=AUTOMATIC"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
case ${1:-} in
  pack) [[ $# == 4 ]] || fail "pack VERSION DIST OUT"; pack "$2" "$3" "$4" ;;
  install) [[ $# == 2 ]] || fail "install VERSION"; install "$2" ;;
  push) [[ $# == 2 ]] || fail "push OUT"; push "$2" ;;
  *) fail "pack VERSION DIST OUT, install VERSION, or push OUT" ;;
esac
