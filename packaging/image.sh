#!/usr/bin/env bash
# Builds the image of a release for both processors: packaging/image.sh v1.2.3 [flags of docker buildx build]. The tags are 1.2.3, 1.2, 1 and
# latest, of a release candidate (v1.2.3-rc.1) only its own. IMAGE names the image; without it, it has the name of the GitHub repository.
# BUILD is the command that builds.
set -euo pipefail
cd "$(dirname "$0")/.."

version=${1:?the tag of the release, such as v1.2.3}
version=${version#v}
shift
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || { echo "$version is no version such as 1.2.3 or 1.2.3-rc.1" >&2; exit 1; }

image=${IMAGE:-ghcr.io/${GITHUB_REPOSITORY:?set IMAGE to the name of the image}}
image=$(tr '[:upper:]' '[:lower:]' <<<"$image")
tags=("$version")
[[ $version == *-* ]] || tags+=("${version%.*}" "${version%%.*}" latest)

commit=$(git rev-parse HEAD)
date=$(TZ=UTC git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd)
source=${GITHUB_SERVER_URL:-https://github.com}/${GITHUB_REPOSITORY:-}
flags=(--build-arg "VERSION=$version" --build-arg "COMMIT=$commit" --build-arg "DATE=$date"
  --label "org.opencontainers.image.version=$version" --label "org.opencontainers.image.revision=$commit"
  --label "org.opencontainers.image.created=$date" --label "org.opencontainers.image.source=$source")
for tag in "${tags[@]}"; do flags+=(--tag "$image:$tag"); done

if [[ -n ${BUILD:-} ]]; then
  read -r -a build <<<"$BUILD"
else
  docker buildx inspect minibus >/dev/null 2>&1 || docker buildx create --name minibus --driver docker-container >/dev/null
  build=(docker buildx build --builder minibus --platform linux/amd64,linux/arm64)
fi
"${build[@]}" "${flags[@]}" "$@" .
