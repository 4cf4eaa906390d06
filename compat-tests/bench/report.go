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

// reportFile prints the medians of a result file as a table in Markdown, in the order of the file. The maximum is that
// of all runs.
func reportFile(path string, out io.Writer) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open results: %w", err)
	}
	defer file.Close()
	var rows []*row
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var r result
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return fmt.Errorf("read results: %w", err)
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
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read results: %w", err)
	}
	printRows(rows, out)
	return nil
}

// printRows prints rows. It leaves out the column of the database if no run measured it.
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
		fmt.Fprintf(out, "| %s | %s | %d | %.0f | %.0f | %.0f | %.0f | %.1f | %.0f | %.0f |", r.label, r.series, len(r.rates),
			median(r.rates), median(r.p50s), median(r.p99s), slices.Max(r.maxima), median(r.cpus), median(r.memory), median(r.peaks))
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
