#!/usr/bin/env bash
# What features cost: sessions beside a plain queue; duplicate detection with an empty and a full window; a queue with and
# without many scheduled messages; an empty and a deep queue. Minibus alone. What is compared takes turns, each on a server of
# its own, so that neither pays for what the other left behind.
#
#   compat-tests/bench/features.sh [OUTPUT.jsonl]
#
# COUNT (messages per run, 100000), SESSIONS (10000), IDS (ids in the window, 1000000), SCHEDULED (100000), DEPTH (1000000)
# and ROUNDS (5) change the size; PARTS="sessions duplicates schedules depths readers explorer loop" what is measured.
set -euo pipefail
cd "$(dirname "$0")/../.."

readonly out=${1:-features.jsonl} count=${COUNT:-100000} sessions=${SESSIONS:-10000} ids=${IDS:-1000000}
readonly scheduled=${SCHEDULED:-100000} rounds=${ROUNDS:-5} depth=${DEPTH:-1000000}
work=$(mktemp -d)
declare -A pids urls

cleanup() {
  stop "${!pids[@]}" || true
  rm -rf "$work"
}
trap cleanup EXIT

start() { # server
  mkdir "$work/$1"
  "$work/minibus" --data "$work/$1/minibus.db" --config "$work/Config.json" --host 127.0.0.1 \
    --amqp-port 0 --tls-port 0 --http-port 0 --ports-file "$work/$1/ports" >"$work/$1/log" 2>&1 &
  pids[$1]=$!
  until [[ -s $work/$1/ports ]]; do
    kill -0 "${pids[$1]}" || { cat "$work/$1/log"; exit 1; }
    sleep 0.01
  done
  urls[$1]=amqp://127.0.0.1:$(tr -d '\n ' <"$work/$1/ports" | sed -E 's/.*"amqp":([0-9]+).*/\1/')
  run "$1" plain warmup -mode both -count 5000 >/dev/null
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

go build -o "$work/bench" ./compat-tests/bench
CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o "$work/minibus" ./cmd/minibus
cat >"$work/Config.json" <<'EOF'
{"UserConfig": {"Namespaces": [{"Name": "sbemulatorns", "Queues": [
  {"Name": "plain", "Properties": {"MaxDeliveryCount": 10, "DefaultMessageTimeToLive": "P7D"}},
  {"Name": "sessions", "Properties": {"MaxDeliveryCount": 10, "DefaultMessageTimeToLive": "P7D", "RequiresSession": true}},
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
      coproc node compat-tests/explorer/watch.mjs "$http" "#/\$default/entity/plain$screen"
      watching=$COPROC_PID
      read -r <&"${COPROC[0]}"
      run one plain "explorer-open$screen" -mode both -level -duration 8s
      exec {COPROC[1]}>&-
      wait "$watching"
    done
  done
  stop one
}

# One message after another: what each costs the server. With strace, one more round counts the system calls; it is slower.
part_loop() {
  local http loops=$((count / 10)) tracer
  start one
  http=http://127.0.0.1:$(tr -d '\n ' <"$work/one/ports" | sed -E 's/.*"http":([0-9]+).*/\1/')
  for _ in $(seq "$rounds"); do
    run one plain loop -mode latency -count "$loops" -metrics "$http"
  done
  if command -v strace >/dev/null; then
    strace -f -c -o "$work/calls" -p "${pids[one]}" 2>/dev/null &
    tracer=$!
    until grep -q "^TracerPid:[[:space:]]*[1-9]" "/proc/${pids[one]}/status"; do
      kill -0 "$tracer" || { echo "strace could not attach" >&2; exit 1; }
      sleep 0.05
    done
    "$work/bench" -url "${urls[one]}" -target plain -mode latency -count "$loops" >/dev/null
    kill -INT "$tracer"
    wait "$tracer" || true
    echo "system calls per message, traced:"
    awk -v loops="$loops" '$4 ~ /^[0-9]+$/ && $NF != "total" && $4 >= loops / 10 { printf "  %-12s %6.1f\n", $NF, $4 / loops }' "$work/calls"
  fi
  stop one
}

for part in ${PARTS:-sessions duplicates schedules depths readers}; do
  "part_$part"
done
