package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"text/tabwriter"
	"time"
)

// series holds how long each operation of one kind took.
type series struct {
	name  string
	times []time.Duration
}

func (s *series) add(d time.Duration) { s.times = append(s.times, d) }

func merge(name string, parts []series) series {
	all := series{name: name}
	for _, part := range parts {
		all.times = append(all.times, part.times...)
	}
	return all
}

// summary holds the figures of a series. Times are in microseconds.
type summary struct {
	Name  string  `json:"name"`
	Count int     `json:"count"`
	Rate  float64 `json:"rate"` // a second
	P50   float64 `json:"p50_us"`
	P99   float64 `json:"p99_us"`
	Max   float64 `json:"max_us"`
}

func (s series) summarize(elapsed time.Duration) summary {
	out := summary{Name: s.name, Count: len(s.times), Rate: float64(len(s.times)) / elapsed.Seconds()}
	if len(s.times) == 0 {
		return out
	}
	slices.Sort(s.times)
	at := func(q float64) float64 {
		return float64(s.times[int(q*float64(len(s.times)-1))].Nanoseconds()) / 1e3
	}
	out.P50, out.P99, out.Max = at(0.50), at(0.99), at(1)
	return out
}

// result holds the figures of one run.
type result struct {
	Server      string    `json:"server,omitempty"`
	Label       string    `json:"label"`
	Lean        bool      `json:"lean,omitempty"`
	Aimed       bool      `json:"aimed,omitempty"`
	Mode        string    `json:"mode"`
	Size        int       `json:"size"`
	Inflight    int       `json:"inflight"`
	Connections int       `json:"connections"`
	Seconds     float64   `json:"seconds"`
	Series      []summary `json:"series"`
	CPUMicros   float64   `json:"server_cpu_us_per_message,omitempty"`        // of the broker, for one message of the largest series
	Waits       float64   `json:"server_waits_per_message,omitempty"`         // of its threads: voluntary context switches
	Written     float64   `json:"server_bytes_written_per_message,omitempty"` // to files and sockets
	Commits     float64   `json:"server_commits_per_message,omitempty"`       // with -metrics, as the next two
	Allocated   float64   `json:"server_bytes_allocated_per_message,omitempty"`
	Allocations float64   `json:"server_allocations_per_message,omitempty"`
	PeakKB      int64     `json:"server_peak_kb,omitempty"`
	MemoryKB    int64     `json:"server_memory_kb,omitempty"`

	// Database is measured by topics.sh after a run, which writes it as a line of its own without a series.
	Database float64 `json:"database_bytes_per_message,omitempty"`
}

func newResult(o options, elapsed time.Duration, all []series, before, after figures) result {
	r := result{
		Server: o.server, Label: o.label, Lean: o.lean, Aimed: o.aimed, Mode: o.mode, Size: o.size, Inflight: o.inflight, Connections: o.connections,
		Seconds: elapsed.Seconds(), PeakKB: after.process.PeakKB, MemoryKB: after.process.MemoryKB,
	}
	most := 0
	for _, s := range all {
		r.Series = append(r.Series, s.summarize(elapsed))
		most = max(most, len(s.times))
	}
	if most > 0 {
		r.share(before, after, float64(most))
	}
	return r
}

// share divides what the broker did among the messages.
func (r *result) share(before, after figures, messages float64) {
	from, to := before.process, after.process
	r.CPUMicros = float64((to.CPU - from.CPU).Microseconds()) / messages
	r.Waits = float64(to.Waits-from.Waits) / messages
	r.Written = float64(to.Written-from.Written) / messages
	r.Commits = (after.metrics[metricCommits] - before.metrics[metricCommits]) / messages
	r.Allocated = (after.metrics[metricAllocated] - before.metrics[metricAllocated]) / messages
	r.Allocations = (after.metrics[metricAllocations] - before.metrics[metricAllocations]) / messages
}

// name returns the label with the broker's name, if it has one.
func (r result) name() string {
	if r.Server == "" {
		return r.Label
	}
	return r.Server + ": " + r.Label
}

// print writes the table.
func (r result) print(out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "%s\tcount\trate/s\tp50 us\tp99 us\tmax us\t\n", r.name())
	for _, s := range r.Series {
		fmt.Fprintf(table, "%s\t%d\t%.0f\t%.0f\t%.0f\t%.0f\t\n", s.Name, s.Count, s.Rate, s.P50, s.P99, s.Max)
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print table: %w", err)
	}
	if r.PeakKB != 0 {
		fmt.Fprintf(out, "server: %.1f us of processor time per message, %d MiB resident, %d MiB at its peak\n",
			r.CPUMicros, r.MemoryKB/1024, r.PeakKB/1024)
		fmt.Fprintf(out, "server, per message: %.1f waits of a thread, %.0f bytes written to files and sockets\n", r.Waits, r.Written)
	}
	if r.Commits != 0 {
		fmt.Fprintf(out, "server, per message: %.2f commits, %.0f bytes of memory allocated in %.0f pieces\n",
			r.Commits, r.Allocated, r.Allocations)
	}
	return nil
}

// save appends the result as a line of JSON.
func (r result) save(path string) error {
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode result: %w", err)
	}
	line = append(line, '\n')
	if path == "-" {
		_, err := os.Stdout.Write(line)
		return err
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("open result file: %w", err)
	}
	if _, err := file.Write(line); err != nil {
		file.Close()
		return fmt.Errorf("write result: %w", err)
	}
	return file.Close()
}
