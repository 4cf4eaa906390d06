package sbtest_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"minibus/sbtest"
)

// recorder is a test that records its log and its failure.
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

// refused has the options of a test that must fail, and texts of the failure.
type refused struct {
	opts []sbtest.Option
	want []string
}

// orders changes a queue of that name.
func orders(q sbtest.Queue) sbtest.Option {
	q.Name = "orders"
	return q
}

// events is a topic with one subscription, large.
func events(s sbtest.Subscription) sbtest.Option {
	s.Name = "large"
	return sbtest.Topic{Name: "events", Subscriptions: []sbtest.Subscription{s}}
}

func rules(all ...sbtest.Rule) sbtest.Option { return events(sbtest.Subscription{Rules: all}) }

func many(n int) (opts []sbtest.Option) {
	for i := range n {
		opts = append(opts, sbtest.Queue{Name: fmt.Sprintf("q%d", i)})
	}
	return opts
}

func list(opts ...sbtest.Option) []sbtest.Option { return opts }

// Start checks the entities of a test as those of a Config.json, wherever the profile of limits stands among the
// options (DEC-1). The test fails with all that is wrong and what to do.
func TestDEC1_WhatATestDeclaresIsChecked(t *testing.T) {
	checkRefused(t, map[string]refused{
		"limits before a queue": {list(sbtest.WithLimits(sbtest.MicrosoftEmulator), orders(sbtest.Queue{MaxDeliveryCount: 20})),
			[]string{`sbtest.Queue{Name: "orders"}: error: MaxDeliveryCount`, "found the number 20", "1 to 10", "use WithLimits(sbtest.Relaxed)"}},
		"limits after a queue": {list(orders(sbtest.Queue{LockDuration: time.Second}), sbtest.WithLimits(sbtest.MicrosoftEmulator)),
			[]string{"LockDuration", `found "PT1S"`, "PT5S to PT5M"}},
		"limits after a file": {list(file(`"Queues": [{"Name": "q", "Properties": {"DefaultMessageTimeToLive": "P1D"}}]`), sbtest.WithLimits(sbtest.MicrosoftEmulator)),
			[]string{"sbtest.ConfigJSON:1:", "DefaultMessageTimeToLive", `found "P1D"`}},
		"all that is wrong": {list(orders(sbtest.Queue{LockDuration: time.Hour, DefaultMessageTimeToLive: -time.Second}), sbtest.Queue{Name: "x/"}),
			[]string{"LockDuration", "DefaultMessageTimeToLive", `sbtest.Queue{Name: "x/"}`, "punctuation"}},
		"a window that is too short": {list(orders(sbtest.Queue{DuplicateDetectionHistoryTimeWindow: time.Second})),
			[]string{`DuplicateDetectionHistoryTimeWindow: found "PT1S"`, "PT5S to P7D"}},
		"a bad name":                {list(sbtest.Queue{Name: "orders?"}), []string{`the character '?' in the name`}},
		"a subscription's path":     {list(sbtest.Queue{Name: "t/Subscriptions/s"}), []string{"the path of a subscription"}},
		"no name":                   {list(sbtest.Queue{}), []string{"an empty name"}},
		"a bad status":              {list(orders(sbtest.Queue{Status: "Off"})), []string{"Status", `found "Off"`, "Active, Disabled"}},
		"names that differ by case": {list(sbtest.Queue{Name: "q"}, sbtest.Queue{Name: "Q"}), []string{`"Q" a second time`, `first in sbtest.Queue{Name: "q"}`}},
		"too many":                  {append(many(51), sbtest.WithLimits(sbtest.MicrosoftEmulator)), []string{`sbtest.Queue{Name: "q50"}`, "found 51 queues and topics", "up to 50"}},
		"a target that is not":      {list(orders(sbtest.Queue{ForwardTo: "ordrs.done"}), sbtest.Queue{Name: "orders.done"}), []string{"ForwardTo", `unknown target "ordrs.done"`, "did you mean orders.done?"}},
		"sessions that forward":     {list(orders(sbtest.Queue{RequiresSession: true, ForwardTo: "orders"})), []string{"ForwardTo together with RequiresSession"}},
	})
}

// The parts of a test are checked against each other, and a key of a file that means nothing is an error.
func TestFilesOfATestAreChecked(t *testing.T) {
	checkRefused(t, map[string]refused{
		"a misspelt key":             {list(file(`"Queues": [{"Name": "q", "Properties": {"LockDuraton": "PT1M"}}]`)), []string{`unknown key "LockDuraton"`, "did you mean LockDuration?"}},
		"an unknown key":             {list(file(`"Queus": []`)), []string{`unknown key "Queus"`, "did you mean Queues?"}},
		"a queue and a file's topic": {list(file(`"Topics": [{"Name": "events"}]`), sbtest.Queue{Name: "Events"}), []string{`"Events" a second time`, "first in sbtest.ConfigJSON on line 1"}},
		"two files":                  {list(file(`"Queues": [{"Name": "q"}]`), file(`"Queues": [{"Name": "Q"}]`)), []string{`"Q" a second time`}},
		"two namespaces": {list(file(`"Queues": []`), sbtest.ConfigJSON(`{"UserConfig": {"Namespaces": [{"Name": "mine"}]}}`)),
			[]string{`found the namespace "mine"`, `"sbemulatorns"`}},
	})
}

// A topic is checked like a queue, with its subscriptions and rules (DEC-1).
func TestDEC1_TopicsOfATestAreChecked(t *testing.T) {
	few := sbtest.WithLimits(sbtest.MicrosoftEmulator)
	subscriptions := make([]sbtest.Subscription, 51)
	for i := range subscriptions {
		subscriptions[i].Name = fmt.Sprintf("s%d", i)
	}
	checkRefused(t, map[string]refused{
		"a topic's value": {list(sbtest.Topic{Name: "events", DefaultMessageTimeToLive: -time.Second}),
			[]string{`sbtest.Topic{Name: "events"}: error: DefaultMessageTimeToLive: found "-1s"`}},
		"a topic's name":        {list(sbtest.Topic{Name: "events#"}), []string{`sbtest.Topic{Name: "events#"}`, `the character '#' in the name`}},
		"a queue of that name":  {list(sbtest.Queue{Name: "x"}, sbtest.Topic{Name: "X"}), []string{`"X" a second time`, `first in sbtest.Queue{Name: "x"}`}},
		"partitions in Premium": {list(sbtest.Topic{Name: "t", EnablePartitioning: true}, sbtest.WithLimits(sbtest.Premium)), []string{"EnablePartitioning"}},
		"a subscription's value": {list(events(sbtest.Subscription{MaxDeliveryCount: 20}), few),
			[]string{`Subscriptions["large"].MaxDeliveryCount`, "found the number 20", "1 to 10"}},
		"a subscription's name": {list(sbtest.Topic{Name: "t", Subscriptions: []sbtest.Subscription{{Name: "a/b"}}}), []string{`Subscriptions["a/b"]`, `'/' in the name`}},
		"no name":               {list(sbtest.Topic{Name: "t", Subscriptions: make([]sbtest.Subscription, 1)}), []string{"an empty name"}},
		"a subscription twice": {list(sbtest.Topic{Name: "t", Subscriptions: []sbtest.Subscription{{Name: "a"}, {Name: "A"}}}),
			[]string{`found the subscription "A" a second time; allowed: names that differ`}},
		"a target that is not":   {list(events(sbtest.Subscription{ForwardTo: "order"}), sbtest.Queue{Name: "orders"}), []string{`Subscriptions["large"].ForwardTo`, "did you mean orders?"}},
		"too many subscriptions": {list(sbtest.Topic{Name: "t", Subscriptions: subscriptions}, few), []string{"Subscriptions: found 51 subscriptions in one topic", "up to 50"}},
		"a filter":               {list(rules(sbtest.Rule{Name: "big", SQL: "amount >"})), []string{`Subscriptions["large"].Rules["big"].SQL`, "can't be used"}},
		"an action":              {list(rules(sbtest.Rule{Action: "DROP x"})), []string{`Rules["$Default"].Action`, "can't be used"}},
		"a rule's name":          {list(rules(sbtest.Rule{Name: "?"})), []string{`Rules["?"]`, `'?' in the name`}},
		"rules without names":    {list(rules(sbtest.Rule{SQL: "a = 1"}, sbtest.Rule{SQL: "a = 2"})), []string{`found the rule "$Default" a second time`}},
		"two filters":            {list(rules(sbtest.Rule{SQL: "a = 1", Correlation: &sbtest.Correlation{To: "b"}})), []string{"SQL together with Correlation"}},
		"a value without a type": {list(rules(sbtest.Rule{Correlation: &sbtest.Correlation{Properties: map[string]any{"x": struct{}{}}}})),
			[]string{`Correlation.Properties["x"]: found a value of the type struct {}`, "time.Duration"}},
	})
}

// checkRefused starts each case and compares the failure of the test.
func checkRefused(t *testing.T, cases map[string]refused) {
	t.Helper()
	for name, c := range cases {
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

// Targets may be in another part of the test.
func TestFWD2_PartsOfATestForwardToEachOther(t *testing.T) {
	r, bus := start(t,
		file(`"Queues": [{"Name": "in", "Properties": {"ForwardTo": "out"}}]`),
		sbtest.Queue{Name: "out", ForwardDeadLetteredMessagesTo: "FAILED"},
		file(`"Queues": [{"Name": "failed"}], "Topics": [{"Name": "t"}]`))
	if bus == nil {
		t.Fatal(r.fatal)
	}
	q, err := bus.Domain().Entity("out")
	if err != nil {
		t.Fatal(err)
	}
	// Settings that are left out have the cloud's defaults, not those of a file.
	if o := q.Options(); o.ForwardDeadLetteredMessagesTo != "failed" || o.MaxDeliveryCount != 0 || o.DefaultMessageTimeToLive != 0 {
		t.Errorf("the queue is %+v", o)
	}
}

// A setting that has no effect is a warning in the log of the test.
func TestWarningsGoToTheTestsLog(t *testing.T) {
	r, bus := start(t, file(`"Queues": [{"Name": "q", "Properties": {"EnableExpress": true, "LockDuration": "PT1S"}}]`))
	if bus == nil {
		t.Fatal(r.fatal)
	}
	if len(r.logged) != 1 || !strings.Contains(r.logged[0], "sbtest.ConfigJSON:1:") || !strings.Contains(r.logged[0], "EnableExpress") {
		t.Errorf("logged %q, want one line about EnableExpress", r.logged)
	}
}
