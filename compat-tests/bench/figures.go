package main

import (
	"bufio"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"minibus/compat-tests/harness"
)

// Names of the metrics of Minibus that a run reads.
const (
	metricCommits     = "minibus_store_commits_total"
	metricAllocated   = "go_memstats_alloc_bytes_total"
	metricAllocations = "go_memstats_mallocs_total"
)

// figures hold what the broker's process had done at a moment.
type figures struct {
	process harness.Process
	metrics map[string]float64 // empty without -metrics
}

func (r *runner) figures() (f figures, err error) {
	if f.process, err = harness.ReadProcess(r.options.pid); err != nil || r.options.metrics == "" {
		return f, err
	}
	f.metrics, err = readMetrics(r.options.metrics)
	return f, err
}

// readMetrics reads the metrics without labels from the address of HTTP of a Minibus.
func readMetrics(address string) (map[string]float64, error) {
	response, err := http.Get(strings.TrimSuffix(address, "/") + "/metrics")
	if err != nil {
		return nil, fmt.Errorf("read metrics: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("read metrics: %s was answered with %s", response.Request.URL, response.Status)
	}
	all := map[string]float64{}
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if n, err := strconv.ParseFloat(value, 64); err == nil {
			all[name] = n
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read metrics: %w", err)
	}
	return all, nil
}
