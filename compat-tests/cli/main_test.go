// Package cli drives the commands for entities and messages of the built binary, against a server that is the same binary.
package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/harness"
)

const patience = time.Minute

// bench has a server, a client of it, and the binary.
type bench struct {
	*testing.T
	ctx        context.Context
	connection string
	client     *azservicebus.Client
	flags      []string // of every command
	environ    []string // further variables
}

// start runs a server with these entities.
func start(t *testing.T, queues []harness.Queue, topics ...harness.Topic) *bench {
	t.Helper()
	t.Parallel()
	server := harness.Start(t, harness.Options{Config: harness.WriteTopology(t, queues, topics)})
	ctx, cancel := context.WithTimeout(context.Background(), 4*patience)
	t.Cleanup(cancel)
	b := &bench{T: t, ctx: ctx, connection: server.ConnectionString()}
	var err error
	b.client, err = azservicebus.NewClientFromConnectionString(b.connection, nil)
	b.must("connect", err)
	t.Cleanup(func() { _ = b.client.Close(context.Background()) })
	return b
}

func queue(name string) []harness.Queue { return []harness.Queue{{Name: name}} }

func (b *bench) must(what string, err error) {
	b.Helper()
	if err != nil {
		b.Fatalf("%s: %v", what, err)
	}
}

// result is what a command left.
type result struct {
	out, errors string
	code        int
}

// command makes the process of a command, without the tester's own connection strings.
func (b *bench) command(args ...string) *exec.Cmd {
	b.Helper()
	cmd := exec.CommandContext(b.ctx, harness.Binary(b.T), slices.Concat(args, b.flags)...)
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "SERVICEBUS_CONNECTION_STRING=")
	}), append(b.environ, "SERVICEBUS_CONNECTION_STRING="+b.connection)...)
	return cmd
}

// finish runs a process to its end.
func (b *bench) finish(cmd *exec.Cmd) result {
	b.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		b.Fatalf("run %q: %v", cmd.Args[1:], err)
	}
	r := result{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
	if i := slices.Index(cmd.Args, harness.Binary(b.T)); i >= 0 { // a shell may be around it
		see(cmd.Args[i+1:], r.code)
	}
	return r
}

func (b *bench) try(args ...string) result { return b.finish(b.command(args...)) }

// run wants a command to succeed, and returns what it printed.
func (b *bench) run(args ...string) string {
	b.Helper()
	return b.feed("", args...)
}

// feed is run with standard input.
func (b *bench) feed(input string, args ...string) string {
	b.Helper()
	cmd := b.command(args...)
	cmd.Stdin = strings.NewReader(input)
	r := b.finish(cmd)
	if r.code != 0 {
		b.Fatalf("minibus %s ended with %d: %s", strings.Join(args, " "), r.code, r.errors)
	}
	if strings.Contains(r.out+r.errors, "\x1b") {
		b.Errorf("minibus %s writes colours into a pipe: %q", strings.Join(args, " "), r.out+r.errors)
	}
	return r.out
}

// fails wants a command to end with a code and a text that has all of these.
func (b *bench) fails(code int, texts []string, args ...string) {
	b.Helper()
	b.failed(b.try(args...), code, texts, args...)
}

func (b *bench) failed(r result, code int, texts []string, args ...string) {
	b.Helper()
	if r.code != code {
		b.Errorf("minibus %s ended with %d, want %d: %s", strings.Join(args, " "), r.code, code, r.errors)
	}
	for _, text := range texts {
		if !strings.Contains(r.errors, text) {
			b.Errorf("minibus %s says %q, want %q in it", strings.Join(args, " "), r.errors, text)
		}
	}
	if strings.Count(r.errors, "\n") != 1 || !strings.HasPrefix(r.errors, "minibus: ") {
		b.Errorf("minibus %s says %q, want one line", strings.Join(args, " "), r.errors)
	}
}

// decode reads a JSON document.
func decode[T any](b *bench, text string) (v T) {
	b.Helper()
	b.must("read JSON of "+text, json.Unmarshal([]byte(text), &v))
	return v
}

// lines reads a document from each line.
func lines[T any](b *bench, text string) (all []T) {
	b.Helper()
	for line := range strings.Lines(text) {
		all = append(all, decode[T](b, line))
	}
	return all
}

// peeked has what these tests read of a message.
type peeked struct {
	SequenceNumber        int64
	State                 string
	MessageID             string
	SessionID             string
	Subject               string
	Body                  string
	DeliveryCount         int
	TimeToLive            string
	ApplicationProperties map[string]any
}

// peek returns all messages of an entity.
func (b *bench) peek(args ...string) []peeked {
	b.Helper()
	return lines[peeked](b, b.run(append([]string{"peek", "--all", "-o", "jsonl"}, args...)...))
}

func bodies(all []peeked) (texts []string) {
	for _, m := range all {
		texts = append(texts, m.Body)
	}
	return texts
}

func (b *bench) wantBodies(what string, all []peeked, want ...string) {
	b.Helper()
	if got := bodies(all); !slices.Equal(got, want) {
		b.Errorf("%s: the bodies are %q, want %q", what, got, want)
	}
}

// send sends messages with the SDK, with their bodies as ids.
func (b *bench) send(to string, texts ...string) {
	b.Helper()
	sender, err := b.client.NewSender(to, nil)
	b.must("make a sender", err)
	for _, text := range texts {
		b.must("send", sender.SendMessage(b.ctx, &azservicebus.Message{Body: []byte(text), MessageID: &text}, nil))
	}
}

// feeding gives a command standard input.
func feeding(cmd *exec.Cmd, input string) *exec.Cmd {
	cmd.Stdin = strings.NewReader(input)
	return cmd
}
