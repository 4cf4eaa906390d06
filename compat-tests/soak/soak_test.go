package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"minibus/compat-tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// TestSoak_ShortRunsFindNothing runs every kind of load for a short time: stretches with checkpoints, and a few short
// lives.
func TestSoak_ShortRunsFindNothing(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	only := []string{"kill", "term", "drop"}
	if runtime.GOOS == "linux" {
		only = append(only, "freeze", "files", "write", "clock")
	}
	if mayMount(t) {
		only = append(only, "disk")
	}
	for name, o := range map[string]options{
		"stretches": {duration: 20 * time.Second, seed: 7},
		"rounds":    {rounds: 4, seed: 7},
	} {
		t.Run(name, func(t *testing.T) {
			o.only, o.findings, o.dir = only, 1, t.TempDir()
			var err error
			if o.binary, err = harness.Build(o.tags()); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			r, err := run(o, &out)
			if err != nil || len(r.Findings) > 0 {
				log, _ := os.ReadFile(filepath.Join(o.dir, "minibus.log"))
				t.Fatalf("%v\n%s\n%s", err, &out, log)
			}
			if r.Checkpoints == 0 || r.Sent == 0 || r.Settled == 0 || r.Deleted == 0 || r.Transactions == 0 || r.Requests == 0 {
				t.Errorf("something of the load does not work:\n%s", &out)
			}
			if r.Selected == 0 || r.Browsed == 0 || r.Replies == 0 || r.RolledBack == 0 || r.Volatile == 0 {
				t.Errorf("something of the JMS clients does not work:\n%s", &out)
			}
		})
	}
}

// mayMount reports whether a small disk can be mounted. If all tests must run, it must be possible.
func mayMount(t *testing.T) bool {
	disk, err := mountSmallDisk(filepath.Join(t.TempDir(), "disk"))
	if err == nil {
		err = disk.unmount("")
	}
	if err != nil && os.Getenv("MINIBUS_COMPAT") == "all" {
		t.Fatal(err)
	}
	return err == nil
}
