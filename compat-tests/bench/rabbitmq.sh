#!/usr/bin/env bash
# Starts and stops a private RabbitMQ 4 for comparisons: a node of its own, in a directory of its own.
#
#   rabbitmq.sh start DIR PORT   prints the process id once there are the durable queues "classic" and "quorum"
#   rabbitmq.sh define DIR FILE   declares what a file of definitions has: exchanges, queues, bindings
#   rabbitmq.sh stop DIR
#
# RabbitMQ and all that it needs are Debian's, of the release that has version 4. They are unpacked once, from the mirror
# that apt has, into a folder beside the other tools of CI, and run there with that folder as their root. Nothing is
# installed. Needs Linux with Debian's apt, and root or user namespaces.
set -euo pipefail

readonly RELEASE=trixie action=$1 dir=$2
readonly root=${XDG_CACHE_HOME:-$HOME/.cache}/minibus-ci/rabbitmq-$RELEASE

fail() {
  echo "rabbitmq.sh: $*" >&2
  exit 1
}

# inside runs a command of the folder. It sees DIR as /data.
inside() { # command...
  local options=(--mount)
  ((EUID == 0)) || options+=(--map-root-user)
  # shellcheck disable=SC2016 # the shell that runs it has the arguments
  unshare "${options[@]}" sh -c '
    for each in /proc /dev /sys; do mount --rbind "$each" "$1$each"; done
    mount --bind "$2" "$1/data"
    root=$1
    shift 2
    exec chroot "$root" "$@"' sh "$root" "$dir" /usr/bin/env -i PATH=/usr/lib/rabbitmq/bin:/usr/bin:/usr/sbin HOME=/data LANG=C.UTF-8 \
    RABBITMQ_NODENAME=bench@localhost RABBITMQ_NODE_PORT="$port" RABBITMQ_DIST_PORT=$((port + 20000)) ERL_EPMD_PORT=$((port + 20001)) \
    RABBITMQ_MNESIA_BASE=/data/mnesia RABBITMQ_LOG_BASE=/data/log RABBITMQ_PID_FILE=/data/pid RABBITMQ_CONF_ENV_FILE=/data/env \
    RABBITMQ_ENABLED_PLUGINS_FILE=/data/plugins RABBITMQ_CONFIG_FILE=/data/rabbitmq ERL_EPMD_ADDRESS=127.0.0.1 "$@"
}

unpack() {
  local work options list package
  [[ -d $root ]] && return
  command -v apt-get >/dev/null && command -v dpkg >/dev/null || fail "RabbitMQ 4 comes as a package of Debian $RELEASE: this needs apt"
  mkdir -p "$(dirname "$root")"
  work=$(mktemp -d "$root.XXXXXX")
  # shellcheck disable=SC2064 # the folder of now
  trap "rm -rf '$work'" EXIT
  mkdir -p "$work"/{lists,cache/archives}/partial "$work/root"
  list=$(ls /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null | head -n 1) || true
  [[ -n $list ]] || fail "apt has no list of Debian's mirror"
  package=$work/other.${list##*.}
  sed -E "s/^(Suites: ).*/\1$RELEASE/; s/^(deb .*) [a-z]+ main.*/\1 $RELEASE main/; /^deb .*(security|updates)/d" "$list" |
    awk '/^$/ {exit} {print}' >"$package"
  options=(-q -o APT::Sandbox::User=root -o Acquire::Languages=none -o Dir::Etc::SourceList="$package" -o Dir::Etc::SourceParts=/dev/null
    -o Dir::State::Lists="$work/lists" -o Dir::State::Status=/dev/null -o Dir::Cache="$work/cache")
  apt-get "${options[@]}" update >&2 || fail "Debian's mirror has no release $RELEASE, or can't be reached"
  apt-get "${options[@]}" install -y --no-install-recommends --download-only rabbitmq-server \
    base-files bash coreutils dash findutils gawk grep hostname libc-bin sed util-linux >&2 || fail "RabbitMQ of Debian $RELEASE can't be had"
  for package in "$work"/cache/archives/*.deb; do dpkg -x "$package" "$work/root"; done
  mkdir "$work/root/data"
  echo 'root:x:0:0:root:/data:/bin/sh' >"$work/root/etc/passwd"
  echo '127.0.0.1 localhost' >"$work/root/etc/hosts"
  mv "$work/root" "$root"
}

start() {
  unpack
  mkdir -p "$dir"
  echo "$port" >"$dir/port"
  echo '[].' >"$dir/plugins"
  printf 'loopback_users = none\nlisteners.tcp.1 = 127.0.0.1:%s\nmax_message_size = %s\n' "$port" $((512 << 20)) >"$dir/rabbitmq.conf"
  : >"$dir/env"
  inside rabbitmq-server >"$dir/out" 2>&1 </dev/null &
  for _ in $(seq 120); do
    [[ -s $dir/pid ]] && break
    kill -0 $! 2>/dev/null || break
    sleep 0.5
  done
  inside rabbitmqctl -q await_startup >"$dir/startup" 2>&1 || fail "RabbitMQ did not start: $(cat "$dir/out" "$dir/startup")"
  cat >"$dir/queues.json" <<'END'
{"queues": [
  {"name": "classic", "vhost": "/", "durable": true, "auto_delete": false, "arguments": {"x-queue-type": "classic"}},
  {"name": "quorum", "vhost": "/", "durable": true, "auto_delete": false, "arguments": {"x-queue-type": "quorum"}}
]}
END
  inside rabbitmqctl -q import_definitions /data/queues.json >&2
  cat "$dir/pid"
}

stop() {
  local pid
  pid=$(cat "$dir/pid" 2>/dev/null) || return 0
  kill "$pid" 2>/dev/null || true
  while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
  inside epmd -kill >/dev/null || true
}

case $action in
  start) port=$3 && start ;;
  define)
    port=$(cat "$dir/port")
    cp "$3" "$dir/define.json"
    inside rabbitmqctl -q import_definitions /data/define.json >&2
    ;;
  stop) port=$(cat "$dir/port") && stop ;;
  *) fail "unknown action $action" ;;
esac
