package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// rival begins the names of the brokers that the first one of a file is compared with.
const rival = "RabbitMQ"

// figure is a kind of number in the table.
type figure struct {
	name string
	more bool // is better
	of   func(result, summary) float64
}

var (
	throughput = &figure{"messages/s", true, func(_ result, s summary) float64 { return s.Rate }}
	processor  = &figure{"server CPU, µs/message", false, func(r result, _ summary) float64 { return r.CPUMicros }}
	middle     = &figure{"p50, µs", false, func(_ result, s summary) float64 { return s.P50 }}
	tail       = &figure{"p99, µs", false, func(_ result, s summary) float64 { return s.P99 }}
	memory     = &figure{"peak memory, MiB", false, func(r result, _ summary) float64 { return float64(r.PeakKB) / 1024 }}
	database   = &figure{"disk, bytes/message", false, func(r result, _ summary) float64 { return r.Database }}
)

// figuresOf returns the figures that a run is about.
func figuresOf(r result) []*figure {
	switch {
	case r.Database > 0:
		return []*figure{database}
	case r.Mode == "latency":
		return []*figure{middle, tail, processor}
	case r.Size > 1<<16 && r.Mode == "send":
		return []*figure{throughput, middle, processor, memory}
	case r.Size > 1<<16:
		return []*figure{throughput, processor, memory}
	default:
		return []*figure{throughput, processor}
	}
}

// line is a line of the table: one figure of one kind of run, by broker, in the order of the rounds.
type line struct {
	label  string
	lean   bool
	aimed  bool
	mode   string
	figure *figure
	values map[string][]float64
}

// compare prints brokers side by side as a table in Markdown: the median of the rounds, the least and the most, and how
// the first broker does beside the better of its rivals. The verdict on the aims comes after it.
func compare(results []result, out io.Writer) {
	var (
		servers []string
		lines   []*line
	)
	for _, r := range results {
		if r.Server == "" {
			continue
		}
		if !slices.Contains(servers, r.Server) {
			servers = append(servers, r.Server)
		}
		for _, f := range figuresOf(r) {
			lines = addFigure(lines, r, f)
		}
	}
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(out, "\n| | %s | Factor |\n", strings.Join(servers, " | "))
	fmt.Fprintf(out, "| --- |%s\n", strings.Repeat(" ---: |", len(servers)+1))
	for _, l := range lines {
		fmt.Fprintf(out, "| %s, %s |", l.label, l.figure.name)
		for _, server := range servers {
			fmt.Fprintf(out, " %s |", spread(l.values[server]))
		}
		fmt.Fprintf(out, " %s |\n", spread(l.factors(servers)))
	}
	fmt.Fprintln(out)
	for _, a := range aims {
		a.judge(lines, servers, out)
	}
}

// addFigure adds a figure of a run to its line. Of a run that both sends and receives, what was received counts; of one
// message after another, the whole.
func addFigure(lines []*line, r result, f *figure) []*line {
	at := slices.IndexFunc(lines, func(l *line) bool { return l.label == r.Label && l.mode == r.Mode && l.figure == f })
	if at < 0 {
		at = len(lines)
		lines = append(lines, &line{label: r.Label, lean: r.Lean, aimed: r.Aimed, mode: r.Mode, figure: f, values: map[string][]float64{}})
	}
	var whole summary
	if len(r.Series) > 0 {
		whole = r.Series[len(r.Series)-1]
	}
	lines[at].values[r.Server] = append(lines[at].values[r.Server], f.of(r, whole))
	return lines
}

// factors divides the first broker's figure by that of its better rival, round by round.
func (l *line) factors(servers []string) []float64 {
	var all []float64
	for round, value := range l.values[servers[0]] {
		var others []float64
		for _, server := range servers {
			if values := l.values[server]; strings.HasPrefix(server, rival) && round < len(values) && values[round] > 0 {
				others = append(others, values[round])
			}
		}
		if len(others) == 0 {
			continue
		}
		best := slices.Min(others)
		if l.figure.more {
			best = slices.Max(others)
		}
		all = append(all, value/best)
	}
	return all
}

// spread writes the median of values, with the least and the most of several.
func spread(values []float64) string {
	switch len(values) {
	case 0:
		return ""
	case 1:
		return number(values[0])
	}
	return fmt.Sprintf("%s (%s to %s)", number(median(values)), number(slices.Min(values)), number(slices.Max(values)))
}

// number writes two decimals below 10, one below 100, and commas from 1,000 on.
func number(v float64) string {
	switch {
	case v < 10:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case v < 100:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	digits := strconv.FormatFloat(v, 'f', 0, 64)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// An aim bounds a factor.
type aim struct {
	name   string
	figure *figure
	bound  float64
	modes  []string
	lean   bool // with the lean client alone
}

var aims = []aim{
	{"throughput with the lean client", throughput, 4, []string{"send", "receive", "both"}, true},
	{"processor time per message", processor, 0.4, []string{"send", "receive", "both", "latency"}, false},
	{"p50, one after another", middle, 0.22, []string{"latency"}, false},
}

// judge prints whether an aim is reached: the least favorable of its lines decides.
func (a aim) judge(lines []*line, servers []string, out io.Writer) {
	type finding struct {
		label  string
		factor float64
	}
	var all []finding
	for _, l := range lines {
		wanted := l.aimed && l.figure == a.figure && slices.Contains(a.modes, l.mode) && (l.lean || !a.lean)
		if factors := l.factors(servers); wanted && len(factors) > 0 {
			all = append(all, finding{l.label, median(factors)})
		}
	}
	if len(all) == 0 {
		return
	}
	worst, word := slices.MaxFunc(all, func(x, y finding) int { return cmp.Compare(x.factor, y.factor) }), "at most"
	reached := worst.factor <= a.bound
	if a.figure.more {
		worst, word = slices.MinFunc(all, func(x, y finding) int { return cmp.Compare(x.factor, y.factor) }), "at least"
		reached = worst.factor >= a.bound
	}
	verdict := "missed"
	if reached {
		verdict = "reached"
	}
	fmt.Fprintf(out, "%s: %s, %s %g times wanted, %.2f measured (%s)\n", verdict, a.name, word, a.bound, worst.factor, worst.label)
}
