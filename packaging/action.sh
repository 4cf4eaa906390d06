#!/usr/bin/env bash
# The step of action.yml: gets Minibus, starts it, waits until it is ready, and exports where it is. It runs on the runners of GitHub for
# Linux, macOS and Windows, and must do with bash 3.2. compat-tests/release runs it against a release on this machine.
set -euo pipefail

# Windows writes paths with \.
: "${RUNNER_TEMP:?this script runs in GitHub Actions}"
readonly dir=${RUNNER_TEMP//\\//}/minibus action=${GITHUB_ACTION_PATH//\\//}
readonly patience=60 # seconds until Minibus must be ready

fail() {
  echo "::error title=Minibus::$*"
  exit 1
}

# The runner keeps the checkout of an action in _actions/OWNER/REPOSITORY/REF. Every other place is a local path.
action_repository() {
  [[ $action =~ /_actions/([^/]+/[^/]+)/([^/]+)/?$ ]] || return 0
  repository=${BASH_REMATCH[1]} ref=${BASH_REMATCH[2]}
}

platform() {
  case ${RUNNER_OS:-$(uname -s)} in
    Linux) os=linux ;;
    macOS | Darwin) os=darwin ;;
    Windows) os=windows suffix=.exe ;;
    *) fail "there is no release for ${RUNNER_OS:-$(uname -s)}" ;;
  esac
  case ${RUNNER_ARCH:-$(uname -m)} in
    X64 | x86_64) arch=amd64 ;;
    ARM64 | aarch64 | arm64) arch=arm64 ;;
    *) fail "there is no release for the processor ${RUNNER_ARCH:-$(uname -m)}" ;;
  esac
}

build() {
  command -v go >/dev/null || fail "to build Minibus from source, put a step with actions/setup-go before this one"
  echo "building $action"
  (cd "$action" && CGO_ENABLED=0 go build -trimpath -o "$dir/minibus$suffix" ./cmd/minibus) || fail "Minibus could not be built from $action"
}

fetch() { # address, file
  curl -sSfL --retry 3 --connect-timeout 20 -o "$2" "$1"
}

sha256() { # file; macOS has only the second program
  if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

# latest follows the redirection of releases/latest to releases/tag/vVERSION.
latest() {
  local to
  to=$(curl -sSfL --retry 3 --connect-timeout 20 -o /dev/null -w '%{url_effective}' "$releases/latest") ||
    fail "$releases/latest cannot be read; is there a release? With source: true the action builds Minibus"
  [[ $to =~ /tag/v?([^/]+)$ ]] || fail "$releases/latest leads to $to, which names no release"
  version=${BASH_REMATCH[1]}
}

download() {
  local archive want got
  releases=${INPUT_RELEASES:-${GITHUB_SERVER_URL:-https://github.com}/$repository/releases}
  releases=${releases%/}
  version=${INPUT_VERSION#v}
  [[ -n $version || ! $ref =~ ^v([0-9]+\.[0-9]+\.[0-9].*)$ ]] || version=${BASH_REMATCH[1]}
  case $version in "" | latest) latest ;; esac
  archive=minibus_${version}_${os}_$arch.tar.gz
  [[ $os != windows ]] || archive=${archive%.tar.gz}.zip
  echo "downloading $releases/download/v$version/$archive"
  fetch "$releases/download/v$version/checksums.txt" "$dir/checksums.txt" || fail "release $version is not at $releases"
  want=$(tr -d '\r' <"$dir/checksums.txt" | awk -v name="$archive" '$2 == name {print $1}')
  [[ -n $want ]] || fail "release $version has no $archive: checksums.txt does not list it"
  fetch "$releases/download/v$version/$archive" "$dir/$archive" || fail "$archive of release $version cannot be downloaded"
  got=$(sha256 "$dir/$archive")
  [[ $got == "$want" ]] || fail "$archive has the SHA-256 checksum $got, and checksums.txt says $want: it was changed on the way, nothing was started"
  case $archive in
    *.zip) unzip -q -o "$dir/$archive" -d "$dir" ;;
    *) tar -xzf "$dir/$archive" -C "$dir" ;;
  esac
}

# ended reports what Minibus said before it ended.
ended() {
  cat "$dir/minibus.log"
  fail "Minibus did not start: $(tail -n 1 "$dir/minibus.log")"
}

start() {
  local flags=()
  read -r -a flags <<<"${INPUT_ARGS//$'\n'/ }"
  [[ -z $INPUT_CONFIG ]] || flags+=(--config "$INPUT_CONFIG")
  flags+=(--ports-file "$dir/ports.json")
  # Nothing is kept, unless the flags name a database. The log is on disk, since this step's output ends with the step.
  MINIBUS_EPHEMERAL=${MINIBUS_EPHEMERAL:-1} nohup "$dir/minibus$suffix" serve "${flags[@]}" >"$dir/minibus.log" 2>&1 </dev/null &
  pid=$!
  local begin=$SECONDS
  until [[ -s $dir/ports.json ]]; do
    kill -0 "$pid" 2>/dev/null || ended
    ((SECONDS - begin < patience)) || ended
    sleep 0.1
  done
}

port() { sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" "$dir/ports.json"; } # key of the ports file

# check_key refuses a key that would write more lines than one into the files of the runner, and so set variables of the job. Minibus trims it too.
check_key() {
  local key=${MINIBUS_ROOT_KEY:-}
  key=${key#"${key%%[![:space:]]*}"}
  key=${key%"${key##*[![:space:]]}"}
  case $key in
    *[$'\r\n']*) fail "MINIBUS_ROOT_KEY has several lines: give a key of one line, such as what openssl rand -base64 32 prints" ;;
    "") unset MINIBUS_ROOT_KEY ;;
    *) export MINIBUS_ROOT_KEY=$key ;;
  esac
}

# strings makes the connection strings from the one that Minibus printed, with dots for a key that the user chose, and asks whether Minibus is
# well there.
strings() {
  connection=$(sed -n 's/^Connection string: //p' "$dir/minibus.log" | tr -d '\r')
  if [[ $connection == *'SharedAccessKey=...'* ]]; then
    [[ -n ${MINIBUS_ROOT_KEY:-} ]] || fail "give the root key in the variable MINIBUS_ROOT_KEY, not in args: the connection string needs it"
    echo "::add-mask::$MINIBUS_ROOT_KEY"
    connection=${connection/SharedAccessKey=.../"SharedAccessKey=$MINIBUS_ROOT_KEY"}
  fi
  local pattern='^Endpoint=sb://(\[[^]]+\]|[^]:/;[]+)(:[0-9]+)?/?;(.*)$' # a host, or an IPv6 address in brackets
  [[ $connection =~ $pattern ]] || fail "Minibus printed no connection string: $connection"
  host=${BASH_REMATCH[1]}
  http=$(port http)
  http=${http:-$(port amqp)} # every port speaks HTTP
  "$dir/minibus$suffix" healthcheck --host "$host" --http-port "$http" || ended
}

export_all() {
  {
    echo "SERVICEBUS_CONNECTION_STRING=$connection"
  } >>"$GITHUB_ENV"
  {
    echo "connection-string=$connection"
    echo "amqp-port=$(port amqp)"
    echo "http-port=$http"
    echo "log-file=$dir/minibus.log"
    echo "pid=$pid"
    echo "version=$("$dir/minibus$suffix" version | sed -n '1s/^Minibus //p' | tr -d '\r')"
  } >>"$GITHUB_OUTPUT"
  if curl -gsSf --noproxy '*' -o "$dir/minibus-ca.pem" "http://$host:$http/minibus/ca.pem"; then
    echo "ca-file=$dir/minibus-ca.pem" >>"$GITHUB_OUTPUT"
  fi
}

# Nothing keeps running if the step fails.
on_exit() {
  local status=$?
  ((status == 0)) || [[ -z $pid ]] || kill "$pid" 2>/dev/null
  exit "$status"
}

suffix="" repository="" ref="" pid=""
trap on_exit EXIT
check_key
rm -rf "$dir" && mkdir -p "$dir"
action_repository
platform
if [[ $INPUT_SOURCE == true || -z $repository && -z $INPUT_RELEASES ]]; then build; else download; fi
start
strings
export_all
cat "$dir/minibus.log"
