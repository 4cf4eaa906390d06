#!/usr/bin/env bash
# What features cost: sessions beside a plain queue, duplicate detection with an empty and a full window, a queue with and
# without many scheduled messages. Minibus alone.
#
#   compat-tests/bench/features.sh [OUTPUT.jsonl]
#
# COUNT (messages per run, 100000), SESSIONS (10000), IDS (ids in the window, 1000000), SCHEDULED (100000) and ROUNDS (3)
# change the size.
set -euo pipefail
cd "$(dirname "$0")/../.."

readonly out=${1:-features.jsonl} count=${COUNT:-100000} sessions=${SESSIONS:-10000} ids=${IDS:-1000000}
readonly scheduled=${SCHEDULED:-100000} rounds=${ROUNDS:-3}
work=$(mktemp -d)
pid=""

cleanup() {
  [[ -z $pid ]] || { kill "$pid" && wait "$pid"; } || true
  rm -rf "$work"
}
trap cleanup EXIT

run() { # queue, label, flags...
  "$work/bench" -url "$url" -target "$1" -pid "$pid" -json "$out" -label "$2" "${@:3}"
}

go build -o "$work/bench" ./compat-tests/bench
CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o "$work/minibus" ./cmd/minibus
cat >"$work/Config.json" <<'EOF'
{"UserConfig": {"Namespaces": [{"Name": "sbemulatorns", "Queues": [
  {"Name": "plain", "Properties": {"MaxDeliveryCount": 10, "DefaultMessageTimeToLive": "P7D"}},
  {"Name": "sessions", "Properties": {"MaxDeliveryCount": 10, "DefaultMessageTimeToLive": "P7D", "RequiresSession": true}},
  {"Name": "once", "Properties": {"MaxDeliveryCount": 10, "DefaultMessageTimeToLive": "P7D",
    "RequiresDuplicateDetection": true, "DuplicateDetectionHistoryTimeWindow": "P7D"}},
  {"Name": "later", "Properties": {"MaxDeliveryCount": 10, "DefaultMessageTimeToLive": "P7D"}}
]}]}}
EOF
"$work/minibus" --data "$work/minibus.db" --config "$work/Config.json" --host 127.0.0.1 \
  --amqp-port 0 --tls-port 0 --http-port 0 --ports-file "$work/ports" >"$work/minibus.log" 2>&1 &
pid=$!
until [[ -s $work/ports ]]; do
  kill -0 "$pid" || { cat "$work/minibus.log"; exit 1; }
  sleep 0.01
done
url=amqp://127.0.0.1:$(tr -d '\n ' <"$work/ports" | sed -E 's/.*"amqp":([0-9]+).*/\1/')

run plain warmup -mode both -count 5000 >/dev/null
for _ in $(seq "$rounds"); do
  run plain plain-send -mode send -count "$count"
  run plain plain-receive -mode receive -count "$count" -inflight 50
  run sessions sessions-send -mode send -count "$count" -sessions "$sessions"
  run sessions sessions-receive -mode sessions -count "$count" -sessions "$sessions" -receivers 50
done

small=$((count / 5))
for _ in $(seq "$rounds"); do
  run plain ids-none -mode both -count "$small" -ids
  run once ids-few -mode both -count "$small" -ids
done
run once ids-fill -mode both -count "$ids" -ids
for _ in $(seq "$rounds"); do
  run once "ids-$ids" -mode both -count "$small" -ids
done

for _ in $(seq "$rounds"); do
  run later scheduled-0 -mode both -count "$small"
done
run later scheduled-fill -mode send -count "$scheduled" -delay 24h
for _ in $(seq "$rounds"); do
  run later "scheduled-$scheduled" -mode both -count "$small"
done
