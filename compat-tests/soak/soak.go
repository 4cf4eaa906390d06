package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/harness"
	"minibus/compat-tests/ledger"
)

// soak is one run. The goroutine that directs the run owns all fields without a mutex.
type soak struct {
	options
	dir      string
	out      io.Writer
	random   *rand.Rand
	began    time.Time
	disk     *smallDisk // the file system of the database; nil: an ordinary one
	data     string     // the database
	config   string
	logFile  *os.File
	server   *harness.Server
	life     int
	load     *load // the current load; nil: none
	report   report
	clockSet bool      // the broker's clock differs from the machine's
	unsaved  time.Time // when the broker could last not write, in this life
	rest     memory    // the broker's memory at the last checkpoint of this process

	proxy    *proxy
	book     *ledger.Mixed
	entities entityBook
	order    *sessionOrder
	trouble  trouble
	tally    tally
	credit   atomic.Uint32 // credit that receivers that delete may have open

	mu       sync.Mutex
	findings []string
	kept     []*azservicebus.Client // open beyond the end of the load
}

func newSoak(o options, out io.Writer) (*soak, error) {
	s := &soak{
		options: o, out: out, random: rand.New(rand.NewPCG(o.seed, 0)), began: time.Now(), book: ledger.NewMixed(),
		entities: entityBook{there: make(map[string]bool)}, order: newSessionOrder(),
	}
	s.dir = o.dir
	if s.dir == "" {
		dir, err := os.MkdirTemp("", "minibus-soak-")
		if err != nil {
			return nil, fmt.Errorf("make a directory: %w", err)
		}
		s.dir = dir
	}
	if err := s.prepare(); err != nil {
		return nil, err
	}
	var err error
	s.proxy, err = newProxy()
	return s, err
}

// prepare makes what the broker needs: a place for the database, a configuration, a log.
func (s *soak) prepare() error {
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return fmt.Errorf("make the directory: %w", err)
	}
	home := s.dir
	if s.wants("disk") && diskPossible() {
		disk, err := mountSmallDisk(filepath.Join(s.dir, "disk"))
		if err != nil {
			return err
		}
		s.disk, home = disk, disk.dir
	}
	s.data, s.config = filepath.Join(home, "minibus.db"), filepath.Join(s.dir, "Config.json")
	text, err := config()
	if err != nil {
		return err
	}
	if err := os.WriteFile(s.config, text, 0o600); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	s.logFile, err = os.Create(filepath.Join(s.dir, "minibus.log"))
	if err != nil {
		return fmt.Errorf("make the log: %w", err)
	}
	return nil
}

// find notes a finding. It prints the first ones, and they end the run.
func (s *soak) find(format string, args ...any) {
	text := fmt.Sprintf("%s: %s", time.Now().Format(time.TimeOnly), fmt.Sprintf(format, args...))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.findings = append(s.findings, text)
	if len(s.findings) <= shownFindings {
		fmt.Fprintln(s.out, "FINDING", text)
	}
}

// enough reports whether the findings so far end the run.
func (s *soak) enough() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.findings) >= s.options.findings
}

// judge makes the ledger's faults findings.
func (s *soak) judge(when string) {
	for _, fault := range s.book.Faults() {
		s.find("%s: %s", when, fault)
	}
}

func (s *soak) say(format string, args ...any) {
	fmt.Fprintf(s.out, "%8s  %s\n", time.Since(s.began).Round(time.Second), fmt.Sprintf(format, args...))
}
