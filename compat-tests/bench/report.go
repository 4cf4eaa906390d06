package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
)

// row holds what several runs of one label measured for one kind of operation.
type row struct {
	label, series     string
	rates, p50s, p99s []float64
	maxima            []float64
	cpus              []float64
	memory, peaks     []float64
	database          []float64 // bytes per message, if measured
}

// readResults reads a result file.
func readResults(path string) ([]result, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open results: %w", err)
	}
	defer file.Close()
	var all []result
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var r result
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("read results: %w", err)
		}
		all = append(all, r)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read results: %w", err)
	}
	return all, nil
}

// report prints results as tables in Markdown, in their order: those with the name of a broker side by side, after the others.
func report(results []result, out io.Writer) {
	var rows []*row
	for _, r := range results {
		if r.Server != "" {
			continue
		}
		for _, s := range r.Series {
			rows = addTo(rows, r, s)
		}
		for _, known := range rows {
			if r.Database > 0 && known.label == r.Label {
				known.database = append(known.database, r.Database)
			}
		}
	}
	if len(rows) > 0 {
		printRows(rows, out)
	}
	compare(results, out)
}

// printRows prints the medians of rows; of rates and processor time the least and the most too. The maximum is that of all
// runs. It leaves out the column of the database if no run measured it.
func printRows(rows []*row, out io.Writer) {
	heading, line := "| Run | Operation | Runs | Rate/s | p50 µs | p99 µs | Max µs | Server CPU µs/message | Server memory MiB | At its peak |",
		"| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
	measured := slices.ContainsFunc(rows, func(r *row) bool { return len(r.database) > 0 })
	if measured {
		heading, line = heading+" Database bytes/message |", line+" ---: |"
	}
	fmt.Fprintln(out, heading)
	fmt.Fprintln(out, line)
	for _, r := range rows {
		fmt.Fprintf(out, "| %s | %s | %d | %s | %.0f | %.0f | %.0f | %s | %.0f | %.0f |", r.label, r.series, len(r.rates),
			spread(r.rates), median(r.p50s), median(r.p99s), slices.Max(r.maxima), spread(r.cpus), median(r.memory), median(r.peaks))
		switch {
		case len(r.database) > 0:
			fmt.Fprintf(out, " %.0f |", median(r.database))
		case measured:
			fmt.Fprint(out, " |")
		}
		fmt.Fprintln(out)
	}
}

func addTo(rows []*row, r result, s summary) []*row {
	at := slices.IndexFunc(rows, func(known *row) bool { return known.label == r.Label && known.series == s.Name })
	if at < 0 {
		rows = append(rows, &row{label: r.Label, series: s.Name})
		at = len(rows) - 1
	}
	known := rows[at]
	known.rates = append(known.rates, s.Rate)
	known.p50s = append(known.p50s, s.P50)
	known.p99s = append(known.p99s, s.P99)
	known.maxima = append(known.maxima, s.Max)
	known.cpus = append(known.cpus, r.CPUMicros)
	known.memory = append(known.memory, float64(r.MemoryKB)/1024)
	known.peaks = append(known.peaks, float64(r.PeakKB)/1024)
	return rows
}

// median returns the median of a list that is not empty: of an even number, the lower of the two in the middle.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)-1)/2]
}
