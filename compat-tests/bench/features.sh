#!/usr/bin/env bash
# What features cost: sessions beside a plain queue; duplicate detection with an empty and a full window; a queue with and
# without many scheduled messages; an empty and a deep queue. Minibus alone, but for large messages. What is compared takes
# turns, each on a server of its own, so that neither pays for what the other left behind. It ends with a table.
#
#   compat-tests/bench/features.sh [OUTPUT.jsonl]
#
# COUNT (messages per run, 100000), SESSIONS (10000), IDS (ids in the window, 1000000), SCHEDULED (100000), DEPTH (1000000)
# and ROUNDS (5) change the size; PARTS="sessions duplicates schedules depths readers explorer loop inflight large" what is measured.
# BINARY is the Minibus to measure, without it that of this checkout.
set -euo pipefail
cd "$(dirname "$0")/../.."

readonly out=${1:-features.jsonl} count=${COUNT:-100000} sessions=${SESSIONS:-10000} ids=${IDS:-1000000}
readonly scheduled=${SCHEDULED:-100000} rounds=${ROUNDS:-5} depth=${DEPTH:-1000000}
work=$(mktemp -d)
declare -A pids urls

cleanup() {
  stop "${!pids[@]}" || true
  stop_rabbit || true
  rm -rf "$work"
}
trap cleanup EXIT

start() { # server, where it keeps its data if that is not a file
  mkdir "$work/$1"
  "$work/minibus" "${2:---data=$work/$1/minibus.db}" --config "$work/Config.json" --host 127.0.0.1 \
    --amqp-port 0 --tls-port 0 --http-port 0 --ports-file "$work/$1/ports" >"$work/$1/log" 2>&1 &
  pids[$1]=$!
  until [[ -s $work/$1/ports ]]; do
    kill -0 "${pids[$1]}" || { cat "$work/$1/log"; exit 1; }
    sleep 0.01
  done
  urls[$1]=amqp://127.0.0.1:$(tr -d '\n ' <"$work/$1/ports" | sed -E 's/.*"amqp":([0-9]+).*/\1/')
  "$work/bench" -url "${urls[$1]}" -target plain -mode both -count 5000 >/dev/null
}

stop() { # servers...
  local name
  for name; do
    kill "${pids[$name]}" && wait "${pids[$name]}" || true
    unset "pids[$name]"
    rm -rf "${work:?}/$name"
  done
}

run() { # server, queue, label, flags...
  "$work/bench" -url "${urls[$1]}" -target "$2" -pid "${pids[$1]}" -json "$out" -label "$3" "${@:4}"
}

start_rabbit() { rabbit_pid=$(compat-tests/bench/rabbitmq.sh start "$work/rabbit" 25672); }

stop_rabbit() {
  [[ -z ${rabbit_pid:-} ]] || compat-tests/bench/rabbitmq.sh stop "$work/rabbit" >/dev/null 2>&1
  rabbit_pid=""
}

rabbit() { # queue, label, flags...
  echo 5 >"/proc/$rabbit_pid/clear_refs" # its peak of memory begins anew
  "$work/bench" -url amqp://127.0.0.1:25672 -user guest -password guest -target "/queues/$1" -pid "$rabbit_pid" -json "$out" \
    -server "RabbitMQ 4, $1" -label "$2" "${@:3}"
}

go build -o "$work/bench" ./compat-tests/bench
if [[ -n ${BINARY:-} ]]; then
  cp "$BINARY" "$work/minibus"
else
  CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o "$work/minibus" ./cmd/minibus
fi
cat >"$work/Config.json" <<'EOF'
{"UserConfig": {"Namespaces": [{"Name": "sbemulatorns", "Queues": [
  {"Name": "plain", "Properties": {"MaxDeliveryCount": 10, "DefaultMessageTimeToLive": "P7D"}},
  {"Name": "sessions", "Properties": {"MaxDeliveryCount": 10, "DefaultMessageTimeToLive": "P7D", "RequiresSession": true}},
  {"Name": "large", "Properties": {"MaxDeliveryCount": 10, "DefaultMessageTimeToLive": "P7D", "MaxMessageSizeInKilobytes": 102400}},
  {"Name": "once", "Properties": {"MaxDeliveryCount": 10, "DefaultMessageTimeToLive": "P7D",
    "RequiresDuplicateDetection": true, "DuplicateDetectionHistoryTimeWindow": "P7D"}}
]}]}}
EOF

part_sessions() {
  start one
  for _ in $(seq "$rounds"); do
    run one plain plain-send -mode send -count "$count"
    run one plain plain-receive -mode receive -count "$count" -inflight 50
    run one sessions sessions-send -mode send -count "$count" -sessions "$sessions"
    run one sessions sessions-receive -mode sessions -count "$count" -sessions "$sessions" -receivers 50
  done
  stop one
}

# The window of the small server fills as it is measured, by default to a fourth of the large one's at most.
part_duplicates() {
  start small
  start large
  run large once ids-fill -mode both -count "$ids" -ids
  for _ in $(seq "$rounds"); do
    run small plain ids-none -mode both -count "$((count / 2))" -ids
    run small once ids-few -mode both -count "$((count / 2))" -ids
    run large once "ids-$ids" -mode both -count "$((count / 2))" -ids
  done
  stop small large
}

part_schedules() {
  start small
  start large
  run large plain scheduled-fill -mode send -count "$scheduled" -delay 24h
  for _ in $(seq "$rounds"); do
    run small plain scheduled-0 -mode both -count "$count"
    run large plain "scheduled-$scheduled" -mode both -count "$count"
  done
  stop small large
}

part_depths() {
  start small
  start large
  run small plain depth-fill -mode send -count 1000
  run large plain depth-fill -mode send -count "$depth"
  for _ in $(seq "$rounds"); do
    run small plain depth-1000 -mode both -level -duration 8s
    run large plain "depth-$depth" -mode both -level -duration 8s
  done
  stop small large
}

# A queue of 10,000 messages in use, alone and with ten readers of the control API.
part_readers() {
  local http
  start one
  http=http://127.0.0.1:$(tr -d '\n ' <"$work/one/ports" | sed -E 's/.*"http":([0-9]+).*/\1/')
  run one plain readers-fill -mode send -count 10000
  for _ in $(seq "$rounds"); do
    run one plain readers-0 -mode both -level -duration 8s
    run one plain readers-10 -mode both -level -duration 8s -readers "$http"
  done
  stop one
}

# The same queue, alone and with the explorer open on it: on its page, its messages, its history. The browser takes a processor of its own, so that
# only the processor time of the server compares. Needs Node.js and Chromium, and "npm ci" in compat-tests/explorer.
part_explorer() {
  local http screen watching
  start one
  http=http://localhost:$(tr -d '\n ' <"$work/one/ports" | sed -E 's/.*"http":([0-9]+).*/\1/')
  run one plain explorer-fill -mode send -count 10000
  for _ in $(seq "$rounds"); do
    for screen in "" /messages /history; do
      run one plain "explorer-none" -mode both -level -duration 8s
      coproc node compat-tests/explorer/watch.mjs "$http" "#/sbemulatorns/entity/plain$screen"
      watching=$COPROC_PID
      read -r <&"${COPROC[0]}"
      run one plain "explorer-open$screen" -mode both -level -duration 8s
      exec {COPROC[1]}>&-
      wait "$watching"
    done
  done
  stop one
}

# One message after another, on disk and in memory: what each costs the server, with the library and with the lean client, waiting for the answer to a
# settlement or not (-forget). With strace, one more round counts the system calls. The echo shows what one round trip between two processes takes if the
# server does nothing. RabbitMQ beside it: compare.sh.
part_loop() {
  local loops=$((count / 10)) client server
  mkdir "$work/echo"
  "$work/bench" echo >"$work/echo/url" &
  pids[echo]=$!
  until [[ -s $work/echo/url ]]; do sleep 0.01; done
  urls[echo]=$(<"$work/echo/url")
  start disk
  start memory --ephemeral
  for _ in $(seq "$rounds"); do
    run echo "" loop-echo -mode echo -count "$loops"
    for client in "" -lean; do
      for server in disk memory; do
        run "$server" plain "loop-$server$client" -mode latency -count "$loops" $client -metrics "$(web "$server")"
        run "$server" plain "loop-$server$client-forget" -mode latency -count "$loops" $client -forget
      done
    done
  done
  for server in disk memory; do
    calls_of "$server" "$loops"
  done
  stop disk memory echo
}

web() { # server: its address of HTTP
  printf 'http://127.0.0.1:%s' "$(tr -d '\n ' <"$work/$1/ports" | sed -E 's/.*"http":([0-9]+).*/\1/')"
}

calls_of() { # server, messages: the system calls of one message after another, with the lean client
  local tracer
  command -v strace >/dev/null || return 0
  strace -f -c -o "$work/calls" -p "${pids[$1]}" 2>/dev/null &
  tracer=$!
  until grep -q "^TracerPid:[[:space:]]*[1-9]" "/proc/${pids[$1]}/status"; do
    kill -0 "$tracer" || { echo "strace could not attach" >&2; exit 1; }
    sleep 0.05
  done
  "$work/bench" -url "${urls[$1]}" -target plain -mode latency -count "$2" -lean >/dev/null
  kill -INT "$tracer"
  wait "$tracer" || true
  echo "system calls per message, $1, traced:"
  awk -v loops="$2" '$4 ~ /^[0-9]+$/ && $NF != "total" && $4 >= loops / 10 { printf "  %-12s %6.1f\n", $NF, $4 / loops }' "$work/calls"
}

# 200 in flight, at two depths.
part_inflight() {
  start small
  start large
  run small plain inflight-fill -mode send -count 1000
  run large plain inflight-fill -mode send -count "$depth"
  for _ in $(seq "$rounds"); do
    run small plain inflight-1000 -mode both -level -duration 8s
    run large plain "inflight-$depth" -mode both -level -duration 8s
  done
  stop small large
}

# Large messages, each size in and out on a server of its own, ten senders of 100 MiB at once; beside RabbitMQ, and a file written and synced. RabbitMQ
# refuses receivers that wait for the answer to a settlement, so neither waits.
part_large() {
  local mib bytes queue file=$work/file
  start_rabbit
  for _ in $(seq "$rounds"); do
    echo "dd, 400 MiB, synced: $(dd if=/dev/zero of="$file" bs=1M count=400 conv=fsync 2>&1 | tail -1)"
    rm "$file"
    for mib in 1 10 100; do
      bytes=$((mib * 1048576 - 1024))
      start one
      run one large "$mib MiB, send" -server Minibus -mode send -inflight 4 -count $((400 / mib)) -size "$bytes"
      run one large "$mib MiB, receive" -server Minibus -mode receive -inflight 4 -count $((400 / mib)) -size "$bytes" -forget
      stop one
      for queue in classic quorum; do
        rabbit "$queue" "$mib MiB, send" -mode send -inflight 4 -count $((400 / mib)) -size "$bytes"
        rabbit "$queue" "$mib MiB, receive" -mode receive -inflight 4 -count $((400 / mib)) -size "$bytes" -forget
      done
    done
    start one
    run one large "large-100x10" -mode send -inflight 10 -connections 10 -count 10 -size "$bytes"
    run one large "large-100x10" -mode receive -inflight 10 -connections 10 -count 10 -size "$bytes"
    stop one
  done
  stop_rabbit
}

for part in ${PARTS:-sessions duplicates schedules depths readers}; do
  "part_$part"
done
"$work/bench" report "$out"
