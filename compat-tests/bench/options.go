package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// options holds the command line.
type options struct {
	url         string
	user        string
	password    string
	target      string // address to send to
	source      string // address to receive from; default: target
	mode        string
	size        int // bytes of a body
	inflight    int // unanswered operations in all, per direction
	connections int
	count       int64         // messages; 0: no limit
	duration    time.Duration // 0: no limit
	forget      bool          // accept without waiting for the broker's answer
	transient   bool          // messages are not marked durable
	sessions    int64         // number of sessions to spread messages over; 0: none
	receivers   int           // how many drain sessions at once
	ids         bool          // each message has an id of its own
	delay       time.Duration // messages are due this much later
	properties  properties    // application properties of each message
	readers     string        // address of the control API that ten readers ask meanwhile; empty: none
	pause       time.Duration // mode latency: between two messages
	level       bool          // mode both: send one message for each one accepted
	pid         int
	metrics     string // address of HTTP of a Minibus, whose metrics are read before and after; empty: none
	lean        bool   // a client of our own in place of the library
	server      string
	aimed       bool
	label       string
	json        string
}

var errNoLimit = errors.New("give -count or -duration")

func parseOptions(args []string, output io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(output)
	flags.StringVar(&o.url, "url", "amqp://localhost:5672", "address of the broker")
	flags.StringVar(&o.user, "user", "", "user name for SASL PLAIN; empty: SASL ANONYMOUS")
	flags.StringVar(&o.password, "password", "", "password for SASL PLAIN")
	flags.StringVar(&o.target, "target", "queue.1", "address to send to")
	flags.StringVar(&o.source, "source", "", "address to receive from (default: the target); %d in it is the number of the connection, from 0")
	flags.StringVar(&o.mode, "mode", "both", "send, receive, both, latency, sessions (drain -sessions in order), idle (hold -connections for -duration), or echo (latency of this machine, without a broker)")
	flags.IntVar(&o.size, "size", 1024, "bytes of a message's body")
	flags.IntVar(&o.inflight, "inflight", 200, "operations without answer at a time, in each direction, over all connections")
	flags.IntVar(&o.connections, "connections", 1, "connections in each direction")
	flags.Int64Var(&o.count, "count", 0, "stop after so many messages in each direction")
	flags.DurationVar(&o.duration, "duration", 0, "stop after this time")
	flags.BoolVar(&o.forget, "forget", false, "accept without waiting for the broker's answer (receiver settles first)")
	flags.BoolVar(&o.transient, "transient", false, "do not mark messages as durable")
	flags.BoolVar(&o.level, "level", false, "in mode both, send one message for each one accepted, so that the queue keeps its depth")
	flags.StringVar(&o.readers, "readers", "", "address of HTTP of a Minibus, whose control API ten readers ask meanwhile")
	flags.DurationVar(&o.pause, "pause", 0, "mode latency: wait so long between two messages")
	flags.Int64Var(&o.sessions, "sessions", 0, "spread messages over so many session ids, in turn; in mode sessions, how many there are")
	flags.IntVar(&o.receivers, "receivers", 50, "mode sessions: receivers at a time, over all connections")
	flags.BoolVar(&o.ids, "ids", false, "give each message an id of its own, as duplicate detection wants it")
	flags.DurationVar(&o.delay, "delay", 0, "schedule messages for so much later")
	flags.Var(&o.properties, "property", "an application property of each message, NAME=VALUE, a whole number or a text; may be repeated")
	flags.IntVar(&o.pid, "pid", 0, "process id of the broker, for processor time, memory, waits and bytes written")
	flags.StringVar(&o.metrics, "metrics", "", "address of HTTP of a Minibus, for commits and memory allocated per message")
	flags.BoolVar(&o.lean, "lean", false, "modes send, receive, both and latency: a client without a library, which costs little itself")
	flags.StringVar(&o.server, "server", "", "name of the broker in the output, for the table of several (compare)")
	flags.BoolVar(&o.aimed, "aimed", false, "the run is one of those that the aims of the table are about")
	flags.StringVar(&o.label, "label", "", "name of this run in the output")
	flags.StringVar(&o.json, "json", "", "append the result as one line of JSON to this file; - for standard output")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.source == "" {
		o.source = o.target
	}
	if o.label == "" {
		o.label = o.mode
	}
	return o, o.check()
}

// properties collects the flags -property. It implements [flag.Value].
type properties map[string]any

// String implements [flag.Value].
func (p properties) String() string { return fmt.Sprint(map[string]any(p)) }

// Set implements [flag.Value].
func (p *properties) Set(text string) error {
	name, value, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return errors.New("want NAME=VALUE")
	}
	if *p == nil {
		*p = properties{}
	}
	if n, err := strconv.ParseInt(value, 10, 64); err == nil {
		(*p)[name] = n
	} else {
		(*p)[name] = value
	}
	return nil
}

func (o options) check() error {
	switch o.mode {
	case "send", "receive", "both", "latency", "sessions", "idle", "echo":
	default:
		return fmt.Errorf("unknown mode %q", o.mode)
	}
	if o.count <= 0 && o.duration <= 0 {
		return errNoLimit
	}
	if o.mode == "idle" {
		return nil
	}
	if o.lean && (o.level || o.sessions > 0 || o.ids || o.delay > 0 || o.pause > 0 || o.mode == "sessions" || o.mode == "idle") {
		return fmt.Errorf("-lean sends one message again and again, and knows the modes send, receive, both and latency alone")
	}
	if o.level && (o.count > 0 || o.duration <= 0) {
		return fmt.Errorf("-level needs a -duration and no -count: who sends and who receives would wait for each other at the end")
	}
	if o.mode == "sessions" && (o.sessions < 1 || o.count < o.sessions || o.receivers < 1) {
		return fmt.Errorf("mode sessions needs -sessions, a -count of one message for each at least, and -receivers")
	}
	if o.connections < 1 || o.inflight < o.connections || o.size < 0 {
		return fmt.Errorf("need at least one connection, an operation in flight for each, and a size of 0 or more")
	}
	return nil
}
