#!/usr/bin/env bash
# What a topic costs: one of so many subscriptions selects each message, or all do, by SQL filters that are looked up (an
# equality), by SQL filters that have to be evaluated (a range), and by correlation filters; beside a plain queue. Each run
# has a server and a database of its own. The file is measured after the server has ended, which folds the log into it: what
# it is larger than without messages, divided by the messages. Minibus alone.
#
#   compat-tests/bench/topics.sh [OUTPUT.jsonl]
#   go run ./compat-tests/bench report OUTPUT.jsonl
#
# COUNT (messages per run where one subscription selects them, 50000), COPIES (copies per run where all do, 100000),
# MOST (subscriptions, 1000) and ROUNDS (3) change the size.
set -euo pipefail
cd "$(dirname "$0")/../.."

readonly out=${1:-topics.jsonl} count=${COUNT:-50000} copies=${COPIES:-100000} most=${MOST:-1000} rounds=${ROUNDS:-3}
work=$(mktemp -d)
pid=""

stop() {
  [[ -z $pid ]] || { kill "$pid" && wait "$pid"; } || true
  pid=""
}
cleanup() {
  stop
  rm -rf "$work"
}
trap cleanup EXIT

start() { # begins with an empty database
  rm -f "$work"/minibus.db* "$work/ports"
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

measure() { # label, target, messages, bytes
  start && stop
  local empty full warmup=$(($3 / 20 + 1))
  empty=$(stat -c %s "$work/minibus.db")
  start
  send() {
    "$work/bench" -url "$url" -target "$1" -pid "$pid" -mode send -size "$4" -property tenant=0 -property color=red \
      -property size=7 "${@:5}" -label "$2" -count "$3"
  }
  send "$2" warmup "$warmup" "$4" >/dev/null
  send "$2" "$1" "$3" "$4" -json "$out"
  stop
  full=$(stat -c %s "$work/minibus.db")
  printf '{"label": "%s", "database_bytes_per_message": %d}\n' "$1" $(((full - empty) / ($3 + warmup))) >>"$out"
}

go build -o "$work/bench" ./compat-tests/bench
CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o "$work/minibus" ./cmd/minibus

for _ in $(seq "$rounds"); do
  configure sql 1 one
  measure queue queue "$count" 1024
  for kind in sql range correlation; do
    for ((subs = 1; subs <= most; subs *= 10)); do
      configure "$kind" "$subs" one
      measure "$kind, 1 of $subs" topic "$count" 1024
    done
  done
  for kind in sql correlation; do
    for ((subs = 1; subs <= most; subs *= 10)); do
      configure "$kind" "$subs" all
      measure "$kind, all of $subs" topic $((copies / subs)) 1024
    done
  done
  for size in 1024 65536; do
    configure sql 100 all
    measure "all of 100, bodies of $size bytes" topic $((copies / 100)) "$size"
  done
done
