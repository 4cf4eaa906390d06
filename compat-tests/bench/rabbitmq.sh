#!/usr/bin/env bash
# Starts and stops a private RabbitMQ with AMQP 1.0 for comparisons: a node of its own, in a directory of its own.
#
#   rabbitmq.sh start DIR PORT   prints the process id once the durable queue "bench" exists
#   rabbitmq.sh define DIR PORT FILE   declares what a file of definitions has: exchanges, queues, bindings
#   rabbitmq.sh stop DIR
#
# Uses Debian's rabbitmq-server package and installs it when it is missing.
set -euo pipefail

readonly action=$1 dir=$2
export RABBITMQ_NODENAME=minibus-bench@localhost RABBITMQ_NODE_PORT=${3:-0} RABBITMQ_DIST_PORT=$((${3:-0} + 20000))
export HOME=$dir RABBITMQ_MNESIA_BASE=$dir/mnesia RABBITMQ_LOG_BASE=$dir/log RABBITMQ_PID_FILE=$dir/pid
export RABBITMQ_ENABLED_PLUGINS_FILE=$dir/plugins RABBITMQ_CONFIG_FILE=$dir/rabbitmq RABBITMQ_CONF_ENV_FILE=$dir/env
readonly bin=/usr/lib/rabbitmq/bin

if [[ $action == stop ]]; then
  "$bin/rabbitmqctl" -q shutdown
  exit
fi

if [[ $action == define ]]; then
  "$bin/rabbitmqctl" -q import_definitions "$4" >&2
  exit
fi

[[ -x $bin/rabbitmq-server ]] || { apt-get update -q && apt-get install -qy --no-install-recommends rabbitmq-server; } >&2
mkdir -p "$dir"
echo '[rabbitmq_amqp1_0].' >"$dir/plugins"
printf 'loopback_users = none\nlisteners.tcp.1 = 127.0.0.1:%s\n' "$3" >"$dir/rabbitmq.conf"
: >"$dir/env"
setsid "$bin/rabbitmq-server" >"$dir/out" 2>&1 </dev/null &
for _ in $(seq 60); do
  [[ -s $dir/pid ]] && "$bin/rabbitmqctl" -q await_startup >/dev/null 2>&1 && break
  sleep 1
done
"$bin/rabbitmqctl" -q eval \
  'rabbit_amqqueue:declare(rabbit_misc:r(<<"/">>, queue, <<"bench">>), true, false, [], none, <<"bench">>).' >/dev/null
cat "$dir/pid"
