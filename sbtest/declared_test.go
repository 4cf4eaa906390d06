package sbtest_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"minibus/emulator"
	"minibus/sbtest"
)

// recorder is a test that keeps what is said to it, instead of failing.
type recorder struct {
	testing.TB
	logged  []string
	fatal   string
	cleanup []func()
}

func (r *recorder) Helper()          {}
func (r *recorder) Cleanup(f func()) { r.cleanup = append(r.cleanup, f) }
func (r *recorder) Log(args ...any)  { r.logged = append(r.logged, fmt.Sprint(args...)) }

func (r *recorder) Errorf(format string, args ...any) {
	r.TB.Errorf(format, args...)
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.fatal = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// start calls sbtest.Start as a test would; the server is nil if that failed the test.
func start(t *testing.T, opts ...sbtest.Option) (r *recorder, bus *sbtest.Server) {
	t.Helper()
	r = &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		bus = sbtest.Start(r, append(opts, sbtest.WithoutNetwork())...)
	}()
	<-done
	t.Cleanup(func() {
		for _, f := range r.cleanup {
			f()
		}
	})
	return r, bus
}

// file is a configuration with queues, topics or both.
func file(entities string) sbtest.Option {
	return sbtest.ConfigJSON(`{"UserConfig": {"Namespaces": [{"Name": "sbemulatorns", ` + entities + `}]}}`)
}

// What a test declares is checked as a Config.json is, wherever the profile of limits stands among the options (DEC-1). The
// test fails with all that is wrong and what to do.
func TestDEC1_WhatATestDeclaresIsChecked(t *testing.T) {
	queue := func(o emulator.QueueOptions) sbtest.Option { return sbtest.Queue("orders", o) }
	many := func() (opts []sbtest.Option) {
		for i := range 51 {
			opts = append(opts, sbtest.Queue(fmt.Sprintf("q%d", i), emulator.QueueOptions{}))
		}
		return append(opts, sbtest.WithLimits("emulator"))
	}
	for name, c := range map[string]struct {
		opts []sbtest.Option
		want []string
	}{
		"limits before a queue": {[]sbtest.Option{sbtest.WithLimits("emulator"), queue(emulator.QueueOptions{MaxDeliveryCount: 20})},
			[]string{`sbtest.Queue("orders")`, "MaxDeliveryCount", "found the number 20", "1 to 10", `use WithLimits("relaxed")`}},
		"limits after a queue": {[]sbtest.Option{queue(emulator.QueueOptions{LockDuration: time.Second}), sbtest.WithLimits("emulator")},
			[]string{"LockDuration", `found "PT1S"`, "PT5S to PT5M"}},
		"limits after a file": {[]sbtest.Option{file(`"Queues": [{"Name": "q", "Properties": {"DefaultMessageTimeToLive": "P1D"}}]`), sbtest.WithLimits("emulator")},
			[]string{"sbtest.ConfigJSON:1:", "DefaultMessageTimeToLive", `found "P1D"`}},
		"all that is wrong": {[]sbtest.Option{queue(emulator.QueueOptions{LockDuration: time.Hour, DefaultMessageTimeToLive: -time.Second}), sbtest.Queue("x/", emulator.QueueOptions{})},
			[]string{"LockDuration", "DefaultMessageTimeToLive", `sbtest.Queue("x/")`, "punctuation"}},
		"a misspelt key":             {[]sbtest.Option{file(`"Queues": [{"Name": "q", "Properties": {"LockDuraton": "PT1M"}}]`)}, []string{`unknown key "LockDuraton"`, "did you mean LockDuration?"}},
		"an unknown key":             {[]sbtest.Option{file(`"Queus": []`)}, []string{`unknown key "Queus"`, "did you mean Queues?"}},
		"a bad name":                 {[]sbtest.Option{sbtest.Queue("orders?", emulator.QueueOptions{})}, []string{`the character '?' in the name`}},
		"a subscription's path":      {[]sbtest.Option{sbtest.Queue("t/Subscriptions/s", emulator.QueueOptions{})}, []string{"the path of a subscription"}},
		"no name":                    {[]sbtest.Option{sbtest.Queue("", emulator.QueueOptions{})}, []string{"an empty name"}},
		"a bad status":               {[]sbtest.Option{queue(emulator.QueueOptions{Status: "Off"})}, []string{"Status", `found "Off"`, "Active, Disabled"}},
		"names that differ by case":  {[]sbtest.Option{sbtest.Queue("q", emulator.QueueOptions{}), sbtest.Queue("Q", emulator.QueueOptions{})}, []string{`"Q" a second time`, `first in sbtest.Queue("q")`}},
		"a queue and a file's topic": {[]sbtest.Option{file(`"Topics": [{"Name": "events"}]`), sbtest.Queue("Events", emulator.QueueOptions{})}, []string{`"Events" a second time`, "first in sbtest.ConfigJSON on line 1"}},
		"two files":                  {[]sbtest.Option{file(`"Queues": [{"Name": "q"}]`), file(`"Queues": [{"Name": "Q"}]`)}, []string{`"Q" a second time`}},
		"two namespaces": {[]sbtest.Option{file(`"Queues": []`), sbtest.ConfigJSON(`{"UserConfig": {"Namespaces": [{"Name": "mine"}]}}`)},
			[]string{`found the namespace "mine"`, `"sbemulatorns"`}},
		"too many":              {many(), []string{`sbtest.Queue("q50")`, "found 51 queues and topics", "up to 50"}},
		"a target that is not":  {[]sbtest.Option{queue(emulator.QueueOptions{ForwardTo: "ordrs.done"}), sbtest.Queue("orders.done", emulator.QueueOptions{})}, []string{"ForwardTo", `unknown target "ordrs.done"`, "did you mean orders.done?"}},
		"sessions that forward": {[]sbtest.Option{queue(emulator.QueueOptions{RequiresSession: true, ForwardTo: "orders"})}, []string{"ForwardTo together with RequiresSession"}},
		"no profile":            {[]sbtest.Option{sbtest.WithLimits("gold")}, []string{`"gold"`, "relaxed, standard, premium and emulator"}},
	} {
		t.Run(name, func(t *testing.T) {
			r, bus := start(t, c.opts...)
			if bus != nil {
				t.Fatalf("started; want %q", c.want)
			}
			for _, want := range c.want {
				if !strings.Contains(r.fatal, want) {
					t.Errorf("failed with\n%s\nwant %q", r.fatal, want)
				}
			}
		})
	}
}

// Targets may be in another part, and what a file says before another counts once.
func TestFWD2_PartsOfATestForwardToEachOther(t *testing.T) {
	r, bus := start(t,
		file(`"Queues": [{"Name": "in", "Properties": {"ForwardTo": "out"}}]`),
		sbtest.Queue("out", emulator.QueueOptions{ForwardDeadLetteredMessagesTo: "FAILED"}),
		file(`"Queues": [{"Name": "failed"}], "Topics": [{"Name": "t"}]`))
	if bus == nil {
		t.Fatal(r.fatal)
	}
	q, err := bus.Namespace().Entity("out")
	if err != nil {
		t.Fatal(err)
	}
	// Zero values are the cloud's, not those of a file.
	if o := q.Options(); o.ForwardDeadLetteredMessagesTo != "failed" || o.MaxDeliveryCount != 0 || o.DefaultMessageTimeToLive != 0 {
		t.Errorf("the queue is %+v", o)
	}
}

// What is accepted and does not do what it seems to is for the test's log.
func TestWarningsGoToTheTestsLog(t *testing.T) {
	r, bus := start(t, file(`"Queues": [{"Name": "q", "Properties": {"EnableExpress": true, "LockDuration": "PT1S"}}]`))
	if bus == nil {
		t.Fatal(r.fatal)
	}
	if len(r.logged) != 1 || !strings.Contains(r.logged[0], "sbtest.ConfigJSON:1:") || !strings.Contains(r.logged[0], "EnableExpress") {
		t.Errorf("logged %q, want one line about EnableExpress", r.logged)
	}
}
