package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// options holds the command line.
type options struct {
	duration time.Duration
	rounds   int
	seed     uint64
	dir      string
	only     []string
	findings int
	binary   string
	built    bool // the binary is built for the run, with what the faults need
}

func parse(args []string, out io.Writer) (options, error) {
	var o options
	var only string
	flags := flag.NewFlagSet("soak", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.DurationVar(&o.duration, "duration", time.Hour, "how long to run")
	flags.IntVar(&o.rounds, "rounds", 0, "run so many short lives, ended by kill -9 and SIGTERM in turns, instead of -duration")
	flags.Uint64Var(&o.seed, "seed", 0, "what the choice of faults begins with (0: the time); the timing is the machine's")
	flags.StringVar(&o.dir, "dir", "", "directory for database, log and ledger (a temporary one that is removed if nothing was found)")
	flags.StringVar(&only, "only", "", "faults to use, separated by commas: "+strings.Join(faultNames(), ", ")+"; none for no fault (all that are possible here)")
	flags.IntVar(&o.findings, "findings", 1, "stop after so many findings")
	flags.StringVar(&o.binary, "binary", "", "the broker (built from this repository)")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.seed == 0 {
		o.seed = uint64(time.Now().UnixNano())
	}
	if only != "" && only != "none" {
		o.only = strings.Split(only, ",")
	}
	for _, name := range o.only {
		if !slices.Contains(faultNames(), name) {
			return o, fmt.Errorf("-only: there is no fault %q, but %s", name, strings.Join(faultNames(), ", "))
		}
	}
	if only == "none" {
		o.only = []string{}
	}
	if flags.NArg() > 0 {
		return o, errors.New("there are no arguments besides the flags")
	}
	return o, nil
}

// wants reports whether the options include a fault.
func (o *options) wants(name string) bool { return o.only == nil || slices.Contains(o.only, name) }

// tags returns the build tags of the broker; the clock fault needs a broker whose clock can be set.
func (o *options) tags() string {
	if o.wants("clock") {
		return "clocksteps"
	}
	return ""
}
