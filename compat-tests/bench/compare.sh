#!/usr/bin/env bash
# Minibus and RabbitMQ 4 side by side: they run at the same time on this machine, the load goes to one after the other, in
# turns. It ends with a table, the median, the least and the most of the rounds, and says whether Minibus reaches its aims.
#
#   compat-tests/bench/compare.sh [OUTPUT.jsonl]
#
# Durable messages of 1 KiB, 200 in flight, and one after another: with the library of the Go SDK and with a lean client, to a
# durable classic queue and to a quorum queue. Minibus runs twice, as it is and with --synchronous full, which survives a
# power cut as a quorum queue does. RabbitMQ refuses receivers that settle second, which is how the library waits for the
# answer to a settlement: with the library both are measured without waiting, and Minibus with it too. The lean client waits
# for both. Then come large messages and fan-out beside RabbitMQ (features.sh, topics.sh), and Minibus alone: idle, and deep.
#
# COUNT (messages per run, 50000), LOOPS (one after another, 3000), ROUNDS (5) and DEPTH (1000000) change the size;
# PARTS="messages large fanout idle depth" what is measured. BINARY is the Minibus to measure, without it that of this checkout.
set -euo pipefail
cd "$(dirname "$0")/../.."

out=$(realpath -m "${1:-bench.jsonl}")
readonly out count=${COUNT:-50000} loops=${LOOPS:-3000} depth=${DEPTH:-1000000} rabbit_port=25672
export ROUNDS=${ROUNDS:-5}
work=$(mktemp -d)
declare -A pids urls
rabbit_pid=""

cleanup() {
  stop "${!pids[@]}" || true
  stop_rabbit || true
  rm -rf "$work"
}
trap cleanup EXIT

micros() { echo "${EPOCHREALTIME/./}"; }

start() { # server, flags...: prints the time to ready
  local name=$1 begin ports=$work/$1.ports
  shift
  rm -f "$ports"
  begin=$(micros)
  "$work/minibus" --config "$work/Config.json" --host 127.0.0.1 --amqp-port 0 --tls-port 0 --http-port 0 --ports-file "$ports" \
    "$@" >"$work/$name.log" 2>&1 &
  pids[$name]=$!
  until [[ -s $ports ]]; do
    kill -0 "${pids[$name]}" || { cat "$work/$name.log"; return 1; }
    sleep 0.001
  done
  echo "minibus ready after $((($(micros) - begin) / 1000)) ms, $(awk '/VmRSS/ {print int($2 / 1024)}' "/proc/${pids[$name]}/status") MiB resident"
  urls[$name]=amqp://127.0.0.1:$(tr -d '\n ' <"$ports" | sed -E 's/.*"amqp":([0-9]+).*/\1/')
}

stop() { # servers...
  local name
  for name; do
    kill "${pids[$name]}" && wait "${pids[$name]}" || true
    unset "pids[$name]"
  done
}

stop_rabbit() {
  [[ -z $rabbit_pid ]] || compat-tests/bench/rabbitmq.sh stop "$work/rabbit" >/dev/null 2>&1
  rabbit_pid=""
}

minibus() { # server, label, flags...
  "$work/bench" -url "${urls[$1]}" -target bench -pid "${pids[$1]}" -json "$out" -label "$2" "${@:3}"
}

rabbit() { # queue, label, flags...
  "$work/bench" -url "amqp://127.0.0.1:$rabbit_port" -user guest -password guest -target "/queues/$1" -pid "$rabbit_pid" \
    -json "$out" -label "$2" "${@:3}"
}

both_minibus() { # label, flags...
  minibus plain "$1" -server Minibus -aimed "${@:2}"
  minibus full "$1" -server "Minibus, synchronous full" "${@:2}"
}

each_server() { # label, flags...
  both_minibus "$@"
  rabbit classic "$1" -server "RabbitMQ 4, classic" "${@:2}"
  rabbit quorum "$1" -server "RabbitMQ 4, quorum" "${@:2}"
}

part_messages() {
  local queue
  start plain --data "$work/plain.db"
  start full --data "$work/full.db" --synchronous full
  rabbit_pid=$(compat-tests/bench/rabbitmq.sh start "$work/rabbit" "$rabbit_port")
  for queue in classic quorum; do
    "$work/bench" -url "amqp://127.0.0.1:$rabbit_port" -user guest -password guest -target "/queues/$queue" -mode both -count 5000 -lean >/dev/null
  done
  for queue in plain full; do
    "$work/bench" -url "${urls[$queue]}" -target bench -mode both -count 5000 -lean >/dev/null
  done
  for _ in $(seq "$ROUNDS"); do
    each_server "lean client, send" -lean -mode send -count "$count"
    each_server "lean client, receive and accept" -lean -mode receive -count "$count"
    each_server "lean client, both at once" -lean -mode both -count "$count"
    each_server "lean client, one after another" -lean -mode latency -count "$loops"
    each_server "library, send" -mode send -count "$count"
    each_server "library, receive and accept, not waiting" -mode receive -count "$count" -forget
    each_server "library, both at once, not waiting" -mode both -count "$count" -forget
    each_server "library, one after another, not waiting" -mode latency -count "$loops" -forget
    for queue in plain full; do
      "$work/bench" -url "${urls[$queue]}" -target bench -mode send -count "$count" >/dev/null
    done
    both_minibus "library, receive and accept, waiting" -mode receive -count "$count"
    both_minibus "library, both at once, waiting" -mode both -count "$count"
    both_minibus "library, one after another, waiting" -mode latency -count "$loops"
  done
  stop_rabbit
  stop plain full
}

part_large() { PARTS=large compat-tests/bench/features.sh "$out"; }

part_fanout() { PARTS=rabbitmq compat-tests/bench/topics.sh "$out"; }

part_idle() {
  ulimit -n "$(ulimit -Hn)"
  start idle --data "$work/idle.db"
  minibus idle idle -mode idle -connections 5000 -duration 20s
  stop idle
}

part_depth() {
  start depth --data "$work/depth.db"
  minibus depth depth-fill -mode send -count 1000
  minibus depth depth-1000 -mode both -level -duration 20s
  minibus depth depth-fill -mode send -count $((depth - 1000))
  minibus depth "depth-$depth" -mode both -level -duration 20s
  stop depth
  start depth --data "$work/depth.db"
  stop depth
}

go build -o "$work/bench" ./compat-tests/bench
if [[ -z ${BINARY:-} ]]; then
  BINARY=$work/minibus
  CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o "$BINARY" ./cmd/minibus
else
  cp "$BINARY" "$work/minibus"
fi
export BINARY
echo '{"UserConfig":{"Namespaces":[{"Name":"sbemulatorns","Queues":[{"Name":"bench","Properties":{"MaxDeliveryCount":10}}]}]}}' >"$work/Config.json"
for part in ${PARTS:-messages large fanout idle depth}; do
  "part_$part"
done
"$work/bench" report "$out"
