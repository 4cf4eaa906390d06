package emulator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"minibus/emulator"
	"minibus/store/storetest"
)

// inject adds a fault.
func (b *broker) inject(o emulator.FaultOptions) *emulator.Fault {
	b.t.Helper()
	f, err := b.ns.Faults().Inject(o)
	if err != nil {
		b.t.Fatalf("inject %+v: %v", o, err)
	}
	return f
}

// hits tries an operation so often and tells which the fault hit: x, and which it did not: a dot.
func (b *broker) hits(a emulator.Attempt, n int) string {
	var s strings.Builder
	for range n {
		if f := b.ns.Faults().Hit(&a); f != nil {
			s.WriteByte('x')
		} else {
			s.WriteByte('.')
		}
	}
	return s.String()
}

func TestFaultHitsWhatItNames(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.create("other", emulator.QueueOptions{})
		worker := &emulator.Client{Connection: "c1", Number: 2, Link: "l", Container: "worker", Product: "MSGolangClient", Remote: "127.0.0.1:50918"}
		send := emulator.Attempt{Operation: emulator.OperationSend, Entity: b.q, Client: worker}
		for name, x := range map[string]struct {
			o    emulator.FaultOptions
			a    emulator.Attempt
			want string
		}{
			"all":                {emulator.FaultOptions{}, send, "xxx"},
			"entity":             {emulator.FaultOptions{Entity: "Q"}, send, "xxx"},
			"another entity":     {emulator.FaultOptions{Entity: "other"}, send, "..."},
			"its dead letters":   {emulator.FaultOptions{Entity: "q/$DeadLetterQueue"}, send, "..."},
			"container":          {emulator.FaultOptions{Client: "WORKER"}, send, "xxx"},
			"product":            {emulator.FaultOptions{Client: "MSGolangClient"}, send, "xxx"},
			"link":               {emulator.FaultOptions{Client: "c1/2"}, send, "xxx"},
			"another client":     {emulator.FaultOptions{Client: "c2"}, send, "..."},
			"an unknown client":  {emulator.FaultOptions{Client: "c1"}, emulator.Attempt{Operation: emulator.OperationSend, Entity: b.q}, "..."},
			"an operation":       {emulator.FaultOptions{Operations: []emulator.Operation{emulator.OperationSettle}}, send, "..."},
			"operations":         {emulator.FaultOptions{Operations: []emulator.Operation{emulator.OperationSettle, emulator.OperationSend}}, send, "xxx"},
			"count":              {emulator.FaultOptions{Count: 2}, send, "xx."},
			"skip":               {emulator.FaultOptions{Skip: 2}, send, "..x"},
			"skip and count":     {emulator.FaultOptions{Skip: 1, Count: 1}, send, ".x."},
			"audience":           {emulator.FaultOptions{Operations: []emulator.Operation{emulator.OperationAuthenticate}, Entity: "q"}, emulator.Attempt{Operation: emulator.OperationAuthenticate, Path: "q"}, "xxx"},
			"detach over HTTP":   {emulator.FaultOptions{Kind: emulator.FaultDetach}, emulator.Attempt{Operation: emulator.OperationSend, Entity: b.q, HTTP: true}, "..."},
			"drop over HTTP":     {emulator.FaultOptions{Kind: emulator.FaultDrop}, emulator.Attempt{Operation: emulator.OperationSend, Entity: b.q, HTTP: true}, "xxx"},
			"a lock where none":  {emulator.FaultOptions{Kind: emulator.FaultLoseLock}, emulator.Attempt{Operation: emulator.OperationRenew, Entity: b.q}, "..."},
			"a lock":             {emulator.FaultOptions{Kind: emulator.FaultLoseLock}, emulator.Attempt{Operation: emulator.OperationRenew, Entity: b.q, Locks: true}, "xxx"},
			"session where none": {emulator.FaultOptions{Kind: emulator.FaultLoseSession}, emulator.Attempt{Operation: emulator.OperationRenew, Entity: b.q, Locks: true}, "..."},
			"the journal's":      {emulator.FaultOptions{Kind: emulator.FaultFailJournal}, send, "..."},
			"starve":             {emulator.FaultOptions{Kind: emulator.FaultStarve}, send, "..."},
		} {
			if x.o.Kind == "" {
				x.o.Kind = emulator.FaultThrottle
			}
			f := b.inject(x.o)
			equal(t, name, b.hits(x.a, 3), x.want)
			equal(t, name+": hits", f.Hits(), strings.Count(x.want, "x"))
			f.Remove()
			equal(t, name+": after it was removed", b.hits(x.a, 2), "..")
			equal(t, name+": state", f.State(), emulator.FaultRemoved)
		}
		equal(t, "a fault is there", b.ns.Faults().Any(), false)
	})
}

func TestFaultsChoiceIsThatOfItsSeed(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		send := emulator.Attempt{Operation: emulator.OperationSend, Entity: b.q}
		run := func(seed int64) (string, int64) {
			f := b.inject(emulator.FaultOptions{Kind: emulator.FaultThrottle, Probability: 0.3, Seed: seed})
			defer f.Remove()
			return b.hits(send, 200), f.Options().Seed
		}
		first, seed := run(0)
		if n := strings.Count(first, "x"); n < 30 || n > 90 {
			t.Errorf("%d of 200 were hit with a probability of 0.3", n)
		}
		again, _ := run(seed)
		equal(t, "with the seed that was chosen", again, first)
		if other, _ := run(seed%1000 + 1001); other == first {
			t.Error("another seed chooses the same")
		}
	})
}

// TestFaultThatWasInjectedFirstHits: the others do not count what it hit.
func TestFaultThatWasInjectedFirstHits(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		first := b.inject(emulator.FaultOptions{Kind: emulator.FaultThrottle, Count: 2})
		second := b.inject(emulator.FaultOptions{Kind: emulator.FaultDetach, Skip: 1})
		equal(t, "hit", b.hits(emulator.Attempt{Operation: emulator.OperationSend, Entity: b.q}, 4), "xx.x")
		equal(t, "hits", fmt.Sprint(first.Hits(), second.Hits()), "2 1")
		equal(t, "state of the first", first.State(), emulator.FaultSpent)
	})
}

func TestFaultIsOverByTheNamespacesClock(t *testing.T) {
	bubbleWith(t, recorded(), emulator.QueueOptions{}, func(b *broker) {
		send := emulator.Attempt{Operation: emulator.OperationSend, Entity: b.q}
		told := 0
		defer b.ns.Faults().Watch(func(*emulator.Fault) { told++ })()
		f := b.inject(emulator.FaultOptions{Kind: emulator.FaultThrottle, For: time.Hour})
		b.steer("freeze", b.ns.Clock().Freeze)
		wait(2 * time.Hour)
		equal(t, "while the clock stands", b.hits(send, 1), "x")
		b.advance(time.Hour - time.Millisecond)
		equal(t, "a moment before", b.hits(send, 1), "x")
		b.advance(time.Millisecond)
		equal(t, "afterwards", b.hits(send, 1), ".")
		equal(t, "state", f.State(), emulator.FaultOver)
		equal(t, "told of the fault and of its end", told, 2)
	})
}

func TestFaultsAreBoundedAndForgotten(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		spent := b.inject(emulator.FaultOptions{Kind: emulator.FaultThrottle, Count: 1})
		for range emulator.MaxFaults - 1 {
			b.inject(emulator.FaultOptions{Kind: emulator.FaultThrottle})
		}
		_, err := b.ns.Faults().Inject(emulator.FaultOptions{Kind: emulator.FaultThrottle})
		wantCode(t, "one too many", err, emulator.CodeQuotaExceeded)
		b.hits(emulator.Attempt{Operation: emulator.OperationSend, Entity: b.q}, 1)
		last := b.inject(emulator.FaultOptions{Kind: emulator.FaultThrottle})
		_, err = b.ns.Faults().Get(spent.ID())
		wantCode(t, "the spent one, which made room", err, emulator.CodeNotFound)
		if f, err := b.ns.Faults().Get(last.ID()); err != nil || f != last {
			t.Errorf("the last one: %v, %v", f, err)
		}
		equal(t, "removed", b.ns.Faults().RemoveAll(), emulator.MaxFaults)
		b.inject(emulator.FaultOptions{Kind: emulator.FaultThrottle})
		b.restart()
		equal(t, "after a restart", len(b.ns.Faults().List()), 0)
	})
	resetBubble(t, func(_ *house, b *broker, list []emulator.EntityConfig) {
		f := b.inject(emulator.FaultOptions{Kind: emulator.FaultThrottle, For: time.Hour})
		b.reset(list)
		equal(t, "after a reset", fmt.Sprint(len(b.ns.Faults().List()), b.ns.Faults().Any(), " ", f.State()), "0 false removed")
	})
}

func TestFaultsThatMakeNoSenseAreRefused(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		send, attach := []emulator.Operation{emulator.OperationSend}, []emulator.Operation{emulator.OperationAttachSender}
		for text, o := range map[string]emulator.FaultOptions{
			`no kind of fault "explode"`:                     {Kind: "explode"},
			`can't hit the operation "attachSender"`:         {Kind: emulator.FaultDelay, Operations: attach, Delay: 1},
			"needs a delay":                                  {Kind: emulator.FaultDelay},
			"at most 10m0s":                                  {Kind: emulator.FaultDelay, Delay: time.Hour},
			"and no other":                                   {Kind: emulator.FaultThrottle, Delay: time.Second},
			"has no condition":                               {Kind: emulator.FaultDrop, Condition: "not-found"},
			`no condition "amqp:nothing"`:                    {Kind: emulator.FaultRefuse, Condition: "amqp:nothing"},
			"can be internal-error, resource-limit-exceeded": {Kind: emulator.FaultFailJournal, Condition: "not-found"},
			"Only a fault of the kind detach, drop or close": {Kind: emulator.FaultThrottle, Operations: send, After: true},
			"needs the operations: send, settle or both":     {Kind: emulator.FaultDrop, After: true},
			"a probability is from 0 to 1":                   {Kind: emulator.FaultThrottle, Probability: 1.5},
			"Skip and count can't be negative":               {Kind: emulator.FaultThrottle, Skip: -1},
			"starve has no skip, count":                      {Kind: emulator.FaultStarve, Count: 1},
			"at most 255 are allowed":                        {Kind: emulator.FaultThrottle, Client: strings.Repeat("x", 256)},
			"lasts for a positive time of at most 100 years": {Kind: emulator.FaultThrottle, For: -time.Second},
			"a millisecond at least":                         {Kind: emulator.FaultThrottle, For: time.Microsecond},
			"A fault of the kind detach can't hit the ope":   {Kind: emulator.FaultDetach, Operations: []emulator.Operation{"sleep"}},
		} {
			_, err := b.ns.Faults().Inject(o)
			wantCode(t, text, err, emulator.CodeArgument)
			if !strings.Contains(err.Error(), text) {
				t.Errorf("%q does not say %q", err, text)
			}
		}
		_, err := b.ns.Faults().Inject(emulator.FaultOptions{Kind: emulator.FaultThrottle, Entity: "nothing"})
		wantCode(t, "an entity that does not exist", err, emulator.CodeNotFound)
		equal(t, "faults", len(b.ns.Faults().List()), 0)
	})
}

func TestFaultSaysWhatTheServiceSays(t *testing.T) {
	bubbleWith(t, recorded(), emulator.QueueOptions{}, func(b *broker) {
		a := emulator.Attempt{Operation: emulator.OperationAttachSender, Entity: b.q, Client: &emulator.Client{Connection: "c1"}}
		for condition, want := range map[string]string{
			"":                              "internal-error: The service was unable to process the request; please retry the operation.",
			"amqp:not-found":                "not-found: The messaging entity 'q' could not be found.",
			"unauthorized-access":           "unauthorized-access: Unauthorized access. 'Send' claim(s) are required to perform this operation. Resource: 'q'.",
			"com.microsoft:entity-disabled": "entity-disabled: Messaging entity 'q' is currently disabled.",
		} {
			f := b.inject(emulator.FaultOptions{Kind: emulator.FaultRefuse, Condition: condition, Count: 1})
			if b.ns.Faults().Hit(&a) != f {
				t.Fatal("it does not hit")
			}
			equal(t, "error", f.Condition()+": "+f.Error(&a).Error(), want+fmt.Sprintf(" (by fault %d of Minibus)", f.ID()))
		}
		events, _ := b.ns.History().Events(0, emulator.EventFilter{Kinds: []emulator.EventKind{emulator.EventFault}, Client: "c1", Entity: "q"})
		n := 0
		for e := range events {
			if n++; !strings.Contains(e.String(), "(refuse) hit attachSender: ") || !strings.Contains(e.String(), " in q by link 0 of connection c1") {
				t.Errorf("event: %s", e.String())
			}
		}
		equal(t, "events", n, 4)
	})
}

// BenchmarkNoFault is what a message pays for faults where there are none.
func BenchmarkNoFault(b *testing.B) {
	ns, err := emulator.Open(storetest.NewMemory(), emulator.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer ns.Close()
	for b.Loop() {
		if ns.Faults().Any() || ns.Faults().Starves(nil, 0) != 0 {
			b.Fatal("a fault")
		}
	}
}

func TestWithoutFaultsNothingIsAllocated(t *testing.T) {
	ns, err := emulator.Open(storetest.NewMemory(), emulator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer ns.Close()
	f, err := ns.Faults().Inject(emulator.FaultOptions{Kind: emulator.FaultThrottle})
	if err != nil {
		t.Fatal(err)
	}
	f.Remove()
	if n := testing.AllocsPerRun(100, func() {
		if ns.Faults().Any() || ns.Faults().Starves(nil, 0) != 0 {
			t.Error("a fault")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestFaultWithoutAnEntityIsAnEventOfItsNamespace alone, also beside such faults of others.
func TestFaultWithoutAnEntityIsAnEventOfItsNamespace(t *testing.T) {
	names := []string{"orders", "returns"}
	houseBubble(t, emulator.Options{Record: emulator.NewRecord(1 << 20)}, names, func(h *house) {
		authenticate := emulator.OperationAuthenticate
		for _, name := range names {
			b := h.in(name)
			b.inject(emulator.FaultOptions{Kind: emulator.FaultRefuse, Operations: []emulator.Operation{authenticate}})
			b.ns.Faults().Hit(&emulator.Attempt{Operation: authenticate})
			events, _ := b.ns.History().Events(0, emulator.EventFilter{Kinds: []emulator.EventKind{emulator.EventFault}})
			equal(t, "events of "+name, len(slices.Collect(events)), 1)
		}
	})
}
