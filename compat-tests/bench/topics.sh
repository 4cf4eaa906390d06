#!/usr/bin/env bash
# What a topic costs: one of so many subscriptions selects each message, or all do, by SQL filters that are looked up (an
# equality), by SQL filters that have to be evaluated (a range), and by correlation filters; beside a plain queue. Each run
# has a server and a database of its own. The file is measured after the server has ended, which folds the log into it: what
# it is larger than without messages, divided by the messages. Where all subscriptions select a message, another run receives and completes all copies.
#
# It ends with a table.
#
#   compat-tests/bench/topics.sh [OUTPUT.jsonl]
#
# COUNT (messages per run where one subscription selects them, 50000), COPIES (copies per run where all do, 100000),
# MOST (subscriptions, 1000) and ROUNDS (5) change the size; PARTS="queue one all sizes rabbitmq" what is measured. rabbitmq is a topic with 100
# subscriptions beside a fanout exchange of RabbitMQ 4 with 100 durable queues, classic and quorum. BINARY is the Minibus to measure, without it that of this checkout.
set -euo pipefail
cd "$(dirname "$0")/../.."

readonly out=${1:-topics.jsonl} count=${COUNT:-50000} copies=${COPIES:-100000} most=${MOST:-1000} rounds=${ROUNDS:-5}
work=$(mktemp -d)
pid="" rabbit_pid="" server=""

stop() {
  [[ -z $pid ]] || { kill "$pid" && wait "$pid"; } || true
  pid=""
}
cleanup() {
  stop
  [[ -z $rabbit_pid ]] || compat-tests/bench/rabbitmq.sh stop "$work/rabbit" >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap cleanup EXIT

start() {
  rm -f "$work/ports"
  "$work/minibus" --data "$work/minibus.db" --config "$work/Config.json" --host 127.0.0.1 \
    --amqp-port 0 --tls-port 0 --http-port 0 --ports-file "$work/ports" >"$work/minibus.log" 2>&1 &
  pid=$!
  until [[ -s $work/ports ]]; do
    kill -0 "$pid" || { cat "$work/minibus.log"; exit 1; }
    sleep 0.01
  done
  url=amqp://127.0.0.1:$(tr -d '\n ' <"$work/ports" | sed -E 's/.*"amqp":([0-9]+).*/\1/')
}

filter() { # kind, number of the tenant: the properties of a rule
  case $1 in
    sql) printf '"FilterType": "Sql", "SqlFilter": {"SqlExpression": "color = '\''red'\'' AND tenant = %d AND size > 5"}' "$2" ;;
    range) printf '"FilterType": "Sql", "SqlFilter": {"SqlExpression": "tenant > %d AND tenant <= %d"}' $(($2 - 1)) "$2" ;;
    correlation) printf '"FilterType": "Correlation", "CorrelationFilter": {"Properties": {"tenant": %d, "color": "red"}}' "$2" ;;
  esac
}

configure() { # kind, subscriptions, whether all select the messages of tenant 0
  local i comma="" tenant
  {
    printf '{"UserConfig": {"Namespaces": [{"Name": "sbemulatorns", "Queues": [{"Name": "queue"}], "Topics": ['
    printf '{"Name": "topic", "Subscriptions": ['
    for ((i = 0; i < $2; i++)); do
      [[ $3 == all ]] && tenant=0 || tenant=$i
      printf '%s{"Name": "s%d", "Rules": [{"Name": "r", "Properties": {%s}}]}' "$comma" "$i" "$(filter "$1" "$tenant")"
      comma=$',\n'
    done
    printf ']}]}]}}\n'
  } >"$work/Config.json"
}

empty() { # begins with an empty database, and measures it
  rm -f "$work"/minibus.db*
  start && stop
  empty=$(stat -c %s "$work/minibus.db")
}

send() { # label, target, messages, bytes, flags...
  "$work/bench" -url "$url" -target "$2" -pid "${pid:-0}" -mode send -size "$4" -property tenant=0 -property color=red \
    -property size=7 "${@:5}" -label "$1" -count "$3"
}

drain() { # label, messages, subscriptions, flags...
  "$work/bench" -url "$url" -source 'topic/Subscriptions/s%d' -pid "${pid:-0}" -mode receive -connections "$3" -inflight $(($3 > 200 ? $3 : 200)) \
    "${@:4}" -label "$1" -count "$2"
}

measure() { # label, target, messages, bytes
  local warmup=$(($3 / 20 + 1))
  empty && start
  send warmup "$2" "$warmup" "$4" >/dev/null
  send "$1" "$2" "$3" "$4" -json "$out" -server "$server"
  stop
  note "$1" "$(stat -c %s "$work/minibus.db")" $(($3 + warmup))
}

note() { # label, bytes of the database, messages
  printf '{"server": "%s", "label": "%s", "database_bytes_per_message": %d}\n' "$server" "$1" $((($2 - empty) / $3)) >>"$out"
}

measure_all() { # label, subscriptions, bytes, flags for receiving...: a message for each subscription, then all copies are received
  local messages=$((copies / $2))
  measure "$1" topic "$messages" "$3"
  start
  drain "${received:-$1}" $((messages * $2)) "$2" "${@:4}" -json "$out" -server "$server"
  stop
}

part_queue() {
  configure sql 1 one
  measure queue queue "$count" 1024
}

part_one() {
  local kind subs
  for kind in sql range correlation; do
    for ((subs = 1; subs <= most; subs *= 10)); do
      configure "$kind" "$subs" one
      measure "$kind, 1 of $subs" topic "$count" 1024
    done
  done
}

part_all() {
  local kind subs
  for kind in sql correlation; do
    for ((subs = 1; subs <= most; subs *= 10)); do
      configure "$kind" "$subs" all
      measure_all "$kind, all of $subs" "$subs" 1024
    done
  done
}

part_sizes() {
  local size
  for size in 1024 65536; do
    configure sql 100 all
    measure_all "all of 100, bodies of $size bytes" 100 "$size"
  done
}

# RabbitMQ refuses receivers that wait for the answer to a settlement (-forget), so neither waits. Both have credit for 50 messages for each receiver.
part_rabbitmq() {
  local subs=100 messages=$((copies / 100)) kind sent="100 copies, send" received="100 copies, receive" window=(-forget -inflight 5000) at
  at=(-url amqp://127.0.0.1:25672 -user guest -password guest)
  configure correlation "$subs" all
  server=Minibus
  measure_all "$sent" "$subs" 1024 "${window[@]}"
  for kind in classic quorum; do
    server="RabbitMQ 4, $kind"
    rm -rf "$work/rabbit"
    rabbit_pid=$(compat-tests/bench/rabbitmq.sh start "$work/rabbit" 25672)
    fanout "$subs" "$kind" >"$work/fanout.json"
    compat-tests/bench/rabbitmq.sh define "$work/rabbit" "$work/fanout.json"
    empty=$(du -sb "$work/rabbit/mnesia" | cut -f1)
    send warmup /exchanges/fanout $((messages / 20 + 1)) 1024 "${at[@]}" >/dev/null
    send "$sent" /exchanges/fanout "$messages" 1024 "${at[@]}" -pid "$rabbit_pid" -server "$server" -json "$out"
    note "$sent" "$(du -sb "$work/rabbit/mnesia" | cut -f1)" $((messages + messages / 20 + 1))
    drain "$received" $((messages * subs)) "$subs" "${at[@]}" -source '/queues/s%d' -pid "$rabbit_pid" "${window[@]}" -server "$server" -json "$out"
    compat-tests/bench/rabbitmq.sh stop "$work/rabbit" >/dev/null
    rabbit_pid=""
  done
  server=""
}

fanout() { # queues, their type: definitions of RabbitMQ
  local i queues="" bindings=""
  for ((i = 0; i < $1; i++)); do
    queues+=",{\"name\": \"s$i\", \"vhost\": \"/\", \"durable\": true, \"auto_delete\": false, \"arguments\": {\"x-queue-type\": \"$2\"}}"
    bindings+=",{\"source\": \"fanout\", \"vhost\": \"/\", \"destination\": \"s$i\", \"destination_type\": \"queue\", \"routing_key\": \"\", \"arguments\": {}}"
  done
  printf '{"exchanges": [{"name": "fanout", "vhost": "/", "type": "fanout", "durable": true, "auto_delete": false, "internal": false, "arguments": {}}],
    "queues": [%s], "bindings": [%s]}' "${queues:1}" "${bindings:1}"
}

go build -o "$work/bench" ./compat-tests/bench
if [[ -n ${BINARY:-} ]]; then
  cp "$BINARY" "$work/minibus"
else
  CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o "$work/minibus" ./cmd/minibus
fi

for _ in $(seq "$rounds"); do
  for part in ${PARTS:-queue one all sizes}; do
    "part_$part"
  done
done
"$work/bench" report "$out"
