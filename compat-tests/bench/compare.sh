#!/usr/bin/env bash
# Minibus and RabbitMQ side by side: both run at the same time on this machine, the load goes to one after the other, in
# turns. Durable messages of 1 KiB, 200 in flight.
#
#   compat-tests/bench/compare.sh [OUTPUT.jsonl]
#
# COUNT (messages per run, 50000), ROUNDS (3) and DEPTH (1000000; 0 leaves the depth run out) change the size. RabbitMQ is
# Debian's, installed when it is missing; its AMQP 1.0 plugin knows only receivers that settle first, so both are measured
# that way (-forget), and Minibus also as the SDKs work, waiting for the answer to every settlement.
set -euo pipefail
cd "$(dirname "$0")/../.."

readonly out=${1:-bench.jsonl} count=${COUNT:-50000} rounds=${ROUNDS:-3} depth=${DEPTH:-1000000}
readonly rabbit_port=25672
work=$(mktemp -d)
minibus_pid="" rabbit_pid=""

cleanup() {
  stop_minibus
  [[ -z $rabbit_pid ]] || compat-tests/bench/rabbitmq.sh stop "$work/rabbit" >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap cleanup EXIT

micros() { echo "${EPOCHREALTIME/./}"; }

# start_minibus DATABASE FLAGS...: sets minibus_pid, minibus_url; prints the time to ready.
start_minibus() {
  local database=$1 begin
  shift
  rm -f "$work/ports"
  begin=$(micros)
  "$work/minibus" --data "$database" --config "$work/Config.json" --host 127.0.0.1 \
    --amqp-port 0 --tls-port 0 --http-port 0 --ports-file "$work/ports" "$@" >"$work/minibus.log" 2>&1 &
  minibus_pid=$!
  until [[ -s $work/ports ]]; do
    kill -0 "$minibus_pid" || { cat "$work/minibus.log"; return 1; }
    sleep 0.001
  done
  echo "minibus ready after $((($(micros) - begin) / 1000)) ms, $(awk '/VmRSS/ {print int($2 / 1024)}' "/proc/$minibus_pid/status") MiB resident"
  minibus_url=amqp://127.0.0.1:$(tr -d '\n ' <"$work/ports" | sed -E 's/.*"amqp":([0-9]+).*/\1/')
}

stop_minibus() {
  [[ -n $minibus_pid ]] || return 0
  kill "$minibus_pid" && wait "$minibus_pid" || true
  minibus_pid=""
}

minibus() { # label, flags...
  "$work/bench" -url "$minibus_url" -target bench -pid "$minibus_pid" -json "$out" -label "minibus-$1" "${@:2}"
}

rabbit() {
  "$work/bench" -url "amqp://127.0.0.1:$rabbit_port" -user guest -password guest -target /amq/queue/bench \
    -pid "$rabbit_pid" -json "$out" -label "rabbitmq-$1" -forget "${@:2}"
}

go build -o "$work/bench" ./compat-tests/bench
CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o "$work/minibus" ./cmd/minibus
echo '{"UserConfig":{"Namespaces":[{"Name":"sbemulatorns","Queues":[{"Name":"bench","Properties":{"MaxDeliveryCount":10}}]}]}}' >"$work/Config.json"
rabbit_pid=$(compat-tests/bench/rabbitmq.sh start "$work/rabbit" "$rabbit_port")
start_minibus "$work/minibus.db"

minibus warmup -mode both -count 5000 >/dev/null
rabbit warmup -mode both -count 5000 >/dev/null
for _ in $(seq "$rounds"); do
  minibus send -mode send -count "$count"
  rabbit send -mode send -count "$count"
  minibus receive-forget -mode receive -count "$count" -forget
  rabbit receive-forget -mode receive -count "$count"
  minibus send -mode send -count "$count"
  minibus receive -mode receive -count "$count"
  minibus both -mode both -count "$count"
  rabbit both-forget -mode both -count "$count"
  minibus latency -mode latency -count 3000
  minibus latency-forget -mode latency -count 3000 -forget
  rabbit latency-forget -mode latency -count 3000
done
compat-tests/bench/rabbitmq.sh stop "$work/rabbit" >/dev/null
rabbit_pid=""

stop_minibus
start_minibus "$work/full.db" --synchronous full
minibus full-send -mode send -count "$count"
minibus full-receive -mode receive -count "$count"
minibus full-latency -mode latency -count 1000
ulimit -n "$(ulimit -Hn)"
stop_minibus
start_minibus "$work/idle.db"
minibus idle -mode idle -connections 5000 -duration 20s

if ((depth > 0)); then
  stop_minibus
  start_minibus "$work/depth.db"
  minibus depth-fill -mode send -count 1000
  minibus depth-1000 -mode both -level -duration 20s
  minibus depth-fill -mode send -count $((depth - 1000))
  minibus "depth-$depth" -mode both -level -duration 20s
  stop_minibus
  start_minibus "$work/depth.db"
fi
