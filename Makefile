.PHONY: all build test race lint fmt rules compat pictures bench docker ci

all: build
	go vet ./...
	test -z "$$(gofmt -l $$(git ls-files '*.go'))"
	go test ./...

build:
	CGO_ENABLED=0 go build -trimpath -o bin/minibus ./cmd/minibus

test:
	go test ./...

race:
	go test -race ./...

lint:
	.ci/run setup lint

fmt:
	gofmt -w $$(git ls-files '*.go')

# Which test proves which rule.
rules:
	go run ./internal/rules

# The official SDKs against the built binary.
compat:
	MINIBUS_COMPAT=all go test -count=1 ./compat-tests/...

# The pictures of README.md and docs/explorer.md, in five minutes; needs Node.js and Chromium.
pictures: build
	cd compat-tests/explorer && npm ci && node pictures.mjs ../../bin/minibus

# Side by side with RabbitMQ; takes several minutes.
bench:
	compat-tests/bench/compare.sh

docker:
	docker build -t minibus .

ci:
	.ci/run
