package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// shownFindings is how many findings are printed: the later ones usually follow from the first.
const shownFindings = 20

// report is the summary of a run.
type report struct {
	Seed          uint64         `json:"seed"`
	Seconds       float64        `json:"seconds"`
	Rounds        int            `json:"rounds,omitempty"`
	Lives         int            `json:"lives"`
	Faults        map[string]int `json:"faults"`
	Dropped       int            `json:"connections_dropped"`
	Checkpoints   int            `json:"checkpoints"`
	Sent          int64          `json:"sent"`
	Received      int64          `json:"received"`
	Settled       int64          `json:"settled"`
	Deleted       int64          `json:"received_and_deleted"`
	Transactions  int64          `json:"transactions"`
	Requests      int64          `json:"http_requests"`
	Peeked        int64          `json:"peeked"`
	Selected      int64          `json:"jms_selected"`
	Browsed       int64          `json:"jms_browsed"`
	Replies       int64          `json:"jms_replies"`
	RolledBack    int64          `json:"jms_rolled_back"` // and delivered again at once
	Volatile      int64          `json:"jms_from_volatile_subscriptions"`
	Errors        int64          `json:"errors_during_faults"`
	RestKiB       []int64        `json:"resident_at_rest_kib"` // at each checkpoint
	HeapKiB       []int64        `json:"heap_at_rest_kib"`
	SlowestStart  float64        `json:"slowest_start_ms"`
	SlowestStop   float64        `json:"slowest_stop_ms"`
	SlowestReturn float64        `json:"slowest_recovery_ms"` // from a lasting fault, without a restart
	LargestLog    int64          `json:"largest_log_at_start_kib"`
	Findings      []string       `json:"findings"`
	Directory     string         `json:"directory,omitempty"`
	printed       time.Time
}

func (r *report) fault(name string) {
	if r.Faults == nil {
		r.Faults = make(map[string]int)
	}
	r.Faults[name]++
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func (r *report) started(took time.Duration, logSize int64) {
	r.Lives++
	r.SlowestStart = max(r.SlowestStart, milliseconds(took))
	r.LargestLog = max(r.LargestLog, logSize>>10)
}

func (r *report) stopped(took time.Duration) { r.SlowestStop = max(r.SlowestStop, milliseconds(took)) }

func (r *report) recovered(took time.Duration) {
	r.SlowestReturn = max(r.SlowestReturn, milliseconds(took))
}

func (r *report) rested(m memory) {
	r.RestKiB, r.HeapKiB = append(r.RestKiB, m.resident>>10), append(r.HeapKiB, m.heap>>10)
}

func (s *soak) progressIfDue() {
	if time.Since(s.report.printed) >= progressEvery {
		s.progress()
	}
}

// progress prints a line about the run so far.
func (s *soak) progress() {
	s.report.printed = time.Now()
	rest := "-"
	if n := len(s.report.RestKiB); n > 0 {
		rest = mib(s.report.RestKiB[n-1]<<10) + ", heap " + mib(s.report.HeapKiB[n-1]<<10)
	}
	s.mu.Lock()
	findings := len(s.findings)
	s.mu.Unlock()
	s.say("life %d, faults %v, checkpoints %d, sent %d, settled %d, deleted %d, may be stored %d, memory at rest %s, findings %d",
		s.life, s.report.Faults, s.report.Checkpoints, s.tally.sent.Load(), s.tally.settled.Load(), s.tally.deleted.Load(),
		s.book.Stored(), rest, findings)
}

// finish stops the broker and writes the summary. It keeps the directory after a finding or an error, or if an option
// names it.
func (s *soak) finish(failure error) (report, error) {
	if s.server != nil {
		failure = errors.Join(failure, s.server.KillNow())
	}
	s.proxy.close()
	r := &s.report
	r.Seed, r.Seconds, r.Findings = s.seed, time.Since(s.began).Seconds(), s.findings[:min(len(s.findings), shownFindings)]
	r.Sent, r.Received, r.Settled, r.Deleted = s.tally.sent.Load(), s.tally.received.Load(), s.tally.settled.Load(), s.tally.deleted.Load()
	r.Transactions, r.Requests, r.Peeked, r.Errors = s.tally.transactions.Load(), s.tally.requests.Load(), s.tally.peeked.Load(), s.tally.errors.Load()
	r.Selected, r.Browsed, r.Replies = s.tally.selected.Load(), s.tally.browsed.Load(), s.tally.replies.Load()
	r.RolledBack, r.Volatile = s.tally.rolledBack.Load(), s.tally.volatile.Load()
	keep := failure != nil || len(r.Findings) > 0 || s.options.dir != ""
	failure = errors.Join(failure, s.logFile.Close(), s.keepOrRemove(keep))
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return *r, errors.Join(failure, fmt.Errorf("encode the summary: %w", err))
	}
	fmt.Fprintf(s.out, "%s\n", text)
	if keep {
		failure = errors.Join(failure, os.WriteFile(filepath.Join(s.dir, "summary.json"), text, 0o600))
	}
	return *r, failure
}

// keepOrRemove keeps database, log and ledger, to look into findings, or removes them.
func (s *soak) keepOrRemove(keep bool) error {
	var err error
	if s.disk != nil {
		kept := ""
		if keep {
			kept = s.dir
		}
		err = s.disk.unmount(kept)
	}
	if !keep {
		return errors.Join(err, os.RemoveAll(s.dir))
	}
	s.report.Directory = s.dir
	f, made := os.Create(filepath.Join(s.dir, "ledger.txt"))
	if made != nil {
		return errors.Join(err, made)
	}
	_, wrote := s.book.WriteTo(f)
	fmt.Fprintf(s.out, "kept: %s (minibus.db, minibus.log, ledger.txt)\n", s.dir)
	return errors.Join(err, wrote, f.Close())
}
