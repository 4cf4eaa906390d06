#!/usr/bin/env bash
# Records the golden vectors anew: builds Minibus, runs it on a free port, and lets every SDK speak to it through the relay.
set -euo pipefail
cd "$(dirname "$0")/../.."

readonly golden=internal/amqp/frames/testdata/golden
work=$(mktemp -d)
pid=""
cleanup() {
  [[ -z $pid ]] || kill "$pid" 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT

queues=$(printf '{"Name":"%s","Properties":{"LockDuration":"PT5S","MaxDeliveryCount":10}},' golden js.{1..6} rhea)
echo "{\"UserConfig\":{\"Namespaces\":[{\"Name\":\"sbemulatorns\",\"Queues\":[${queues%,}],\"Topics\":[]}],\"Logging\":{\"Type\":\"Console\"}}}" >"$work/Config.json"
go build -o "$work/minibus" ./cmd/minibus
go build -o "$work/capture" ./compat-tests/capture
(cd compat-tests/js && { [[ -d node_modules ]] || npm ci --no-audit --no-fund; })
"$work/minibus" --ephemeral --config "$work/Config.json" --amqp-port 0 --tls-port 0 --http-port 0 --ports-file "$work/ports" >"$work/log" 2>&1 &
pid=$!
until [[ -s $work/ports ]]; do sleep 0.05; done
to=localhost:$(sed -E 's/.*"amqp": *([0-9]+).*/\1/' <(tr -d '\n' <"$work/ports"))

record() { # SDK version command...
  "$work/capture" -to "$to" -title "$1 $2" -out "$golden/$1-$2.hex" "${@:3}"
  echo "$golden/$1-$2.hex: $(wc -l <"$golden/$1-$2.hex") lines"
}
installed() { node -p "require('./compat-tests/js/node_modules/$1/package.json').version"; }

mkdir -p "$golden"
record azservicebus "$(go list -m -f '{{.Version}}' github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus)"
record azure-service-bus-js "$(installed @azure/service-bus)" node --test compat-tests/js/smoke.test.mjs
record rhea "$(installed rhea)" node compat-tests/js/rhea.mjs
