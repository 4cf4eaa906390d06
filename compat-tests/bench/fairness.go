package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"minibus/compat-tests/harness"
)

// What a light client may wait beside any heavy one.
const (
	mostMiddle = 50 * time.Millisecond
	mostEver   = 300 * time.Millisecond
)

const (
	lightPause = 5 * time.Millisecond // between two messages of the light client
	after      = 3 * time.Second      // some work goes on behind its answer
)

// fairnessOptions holds the command line of "bench fairness".
type fairnessOptions struct {
	binary string
	rounds int
	deep   int
	lasts  time.Duration
	json   string
	only   []string
}

// fairnessCommand measures a light client beside every heavy one, each on a server of its own, and prints a table. The light
// client sends, receives and completes one message at a time. The heavy ones are processes of their own, since all that
// two clients share is to be the server.
func fairnessCommand(args []string, output io.Writer) error {
	o := fairnessOptions{}
	flags := flag.NewFlagSet("bench fairness", flag.ContinueOnError)
	flags.StringVar(&o.binary, "binary", "", "the Minibus to measure (default: that of this checkout)")
	flags.IntVar(&o.rounds, "rounds", 3, "how often each heavy client is measured")
	flags.IntVar(&o.deep, "deep", 100_000, "messages that are purged, deleted, saved and so on")
	flags.DurationVar(&o.lasts, "duration", 6*time.Second, "how long a heavy client works whose work has no end")
	flags.StringVar(&o.json, "json", "", "append the results as lines of JSON to this file")
	flags.Usage = func() {
		fmt.Fprintf(flags.Output(), "Usage: bench fairness [flags] [heavy client, or the beginning of its name]...\n")
		flags.PrintDefaults()
		for _, h := range heavies {
			fmt.Fprintf(flags.Output(), "  %s\n", h.name)
		}
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	o.only = flags.Args()
	if o.binary == "" {
		binary, err := harness.Build("")
		defer harness.Cleanup()
		if err != nil {
			return err
		}
		o.binary = binary
	}
	return o.run(output)
}

// asked reports whether a heavy client is to be measured.
func (o fairnessOptions) asked(h heavy) bool {
	return len(o.only) == 0 ||
		slices.ContainsFunc(o.only, func(name string) bool { return strings.HasPrefix(h.name, name) })
}

func (o fairnessOptions) run(output io.Writer) error {
	table := fairnessTable{}
	for range o.rounds {
		for _, h := range heavies {
			if !o.asked(h) {
				continue
			}
			r, err := o.measure(h)
			if err != nil {
				return fmt.Errorf("%s: %w", h.name, err)
			}
			s := table.add(h.name, r)
			fmt.Fprintf(os.Stderr, "%s: %d messages, p50 %.2f ms, p99 %.2f ms, slowest %.0f ms\n",
				h.name, s.Count, s.P50/1e3, s.P99/1e3, s.Max/1e3)
			if o.json == "" {
				continue
			}
			if err := r.save(o.json); err != nil {
				return err
			}
		}
	}
	table.print(output)
	return nil
}

// measure runs a heavy client beside a light one.
func (o fairnessOptions) measure(h heavy) (result, error) {
	dir, err := os.MkdirTemp("", "minibus-fairness-")
	if err != nil {
		return result{}, fmt.Errorf("make a directory: %w", err)
	}
	defer os.RemoveAll(dir)
	s, err := o.newStage(dir, h)
	if err != nil {
		return result{}, err
	}
	defer func() { _ = s.server.End() }()
	light := options{
		url: "amqp://" + s.server.Addr(), target: "light", source: "light", mode: "latency", label: "fairness: " + h.name,
		size: 1024, inflight: 1, connections: 1, pause: lightPause, pid: s.server.Pid(),
	}
	warm := light
	warm.pause, warm.count = 0, 500
	if _, err := run(context.Background(), warm); err != nil {
		return result{}, fmt.Errorf("warm up: %w", err)
	}
	if h.prepare != nil {
		if err := h.prepare(s); err != nil {
			return result{}, fmt.Errorf("prepare: %w", err)
		}
	}
	time.Sleep(2 * time.Second) // what preparing has left to do
	return s.beside(h, light)
}

// beside runs the light client until a while after the heavy one has ended.
func (s *stage) beside(h heavy, light options) (result, error) {
	type outcome struct {
		result
		err error
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ended := make(chan outcome, 1)
	go func() {
		r, err := run(ctx, light)
		ended <- outcome{r, err}
	}()
	time.Sleep(time.Second)
	err := h.work(s)
	time.Sleep(after)
	stop()
	o := <-ended
	return o.result, errors.Join(err, o.err)
}

// fairnessTable holds what was measured, by heavy client.
type fairnessTable struct {
	rows []*fairnessRow
}

type fairnessRow struct {
	name             string
	middle, p99, max []float64 // µs
}

func (t *fairnessTable) add(name string, r result) summary {
	at := slices.IndexFunc(t.rows, func(known *fairnessRow) bool { return known.name == name })
	if at < 0 {
		at = len(t.rows)
		t.rows = append(t.rows, &fairnessRow{name: name})
	}
	whole := r.Series[len(r.Series)-1]
	row := t.rows[at]
	row.middle = append(row.middle, whole.P50)
	row.p99 = append(row.p99, whole.P99)
	row.max = append(row.max, whole.Max)
	return whole
}

// print prints the medians of the rounds, and the slowest message of all of them: the bounds are about that one.
func (t *fairnessTable) print(out io.Writer) {
	fmt.Fprintln(out, "| Meanwhile | p50, ms | p99, ms | Slowest, ms | |")
	fmt.Fprintln(out, "| --- | ---: | ---: | ---: | --- |")
	for _, r := range t.rows {
		verdict := "reached"
		if median(r.middle) > float64(mostMiddle.Microseconds()) || slices.Max(r.max) > float64(mostEver.Microseconds()) {
			verdict = "missed"
		}
		fmt.Fprintf(out, "| %s | %.2f | %.1f | %.0f | %s |\n", r.name, median(r.middle)/1e3,
			median(r.p99)/1e3, slices.Max(r.max)/1e3, verdict)
	}
}

// stage is a server with a light client, and what a heavy client needs.
type stage struct {
	server *harness.Server // as the heavy client sees it
	space  string          // the namespace of the heavy client
	deep   int
	lasts  time.Duration
}

// heavySpace is the namespace of heavy clients whose work would end the light one's connection.
const heavySpace = "elsewhere"

func (o fairnessOptions) newStage(dir string, h heavy) (*stage, error) {
	days := harness.Queue{MaxDeliveryCount: 10, TimeToLive: "P7D"}
	light, deep, large, short, dead := days, days, days, days, days
	light.Name, deep.Name, large.Name, short.Name, dead.Name = "light", "deep", "large", "short", "dead"
	large.MaxMessageSizeInKilobytes = 102400
	short.TimeToLive, dead.TimeToLive = "PT2S", "PT2S"
	dead.DeadLetterExpired = true
	fan := harness.Topic{Name: "fan"}
	for i := range 100 {
		fan.Subscriptions = append(fan.Subscriptions, harness.Subscription{
			Queue: harness.Queue{Name: fmt.Sprint("s", i)},
			Rules: []harness.Rule{{Name: "r", SQL: "1=1", Action: fmt.Sprintf("SET copy = %d", i)}},
		})
	}
	two := harness.Topic{Name: "two"}
	for _, name := range []string{"one", "other"} {
		two.Subscriptions = append(two.Subscriptions, harness.Subscription{Queue: harness.Queue{Name: name}})
	}
	queues, topics := []harness.Queue{light, deep, large, short, dead}, []harness.Topic{fan, two}
	text, err := harness.SpacesText(
		harness.Space{Queues: queues, Topics: topics},
		harness.Space{Name: heavySpace, Queues: queues, Topics: topics},
	)
	if err != nil {
		return nil, err
	}
	config := filepath.Join(dir, "Config.json")
	if err := os.WriteFile(config, text, 0o600); err != nil {
		return nil, fmt.Errorf("write the configuration: %w", err)
	}
	s := &stage{space: harness.DefaultSpace, deep: o.deep, lasts: o.lasts}
	s.server, err = harness.Launch(o.binary, filepath.Join(dir, "ports.json"), harness.Options{
		Config: config, Data: filepath.Join(dir, "minibus.db"), Args: []string{"--namespace-ports", "0"}, Alone: true,
	})
	if err != nil {
		if s.server != nil {
			_ = s.server.KillNow()
		}
		return nil, err
	}
	if h.elsewhere {
		s.space = heavySpace
	}
	return s, nil
}

// load runs a load generator as a process of its own.
func (s *stage) load(args ...string) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	port := s.server.Ports.AMQP
	if s.space == heavySpace {
		port = s.server.Ports.Spaces[heavySpace]
	}
	args = append([]string{"-url", "amqp://localhost:" + strconv.Itoa(port)}, args...)
	if text, err := exec.Command(program, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("bench %s: %w\n%s", strings.Join(args, " "), err, text)
	}
	return nil
}
