package emulator_test

import (
	"math"
	"testing"
	"testing/synctest"

	"minibus/emulator"
	"minibus/emulator/clock"
	"minibus/store/storetest"
)

// house is a broker with several namespaces under test, over a store in memory that can fail.
type house struct {
	t       *testing.T
	options emulator.Options
	m       *storetest.Memory
	*emulator.Broker
}

// houseBubble runs f in a synctest bubble with a broker that has the namespaces, each with a queue "q", besides the default one.
func houseBubble(t *testing.T, o emulator.Options, names []string, f func(h *house)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		if o.Clock == nil {
			o.Clock = &clock.System{Recheck: math.MaxInt64}
		}
		h := &house{t: t, options: o, m: storetest.NewMemory()}
		h.open()
		defer func() {
			h.m.Resume() // what f has left waiting
			h.close()
		}()
		for _, name := range names {
			h.create(name, emulator.NamespaceOptions{})
		}
		f(h)
	})
}

func (h *house) open() {
	h.t.Helper()
	b, err := emulator.OpenBroker(h.m, h.options)
	if err != nil {
		h.t.Fatalf("open the broker: %v", err)
	}
	h.Broker = b
}

func (h *house) close() {
	h.Broker.Close()
	_ = h.m.Close() // never fails
}

func (h *house) restart() {
	h.t.Helper()
	h.close()
	h.m = h.m.Reopen()
	h.open()
}

// create makes a namespace with a queue "q".
func (h *house) create(name string, o emulator.NamespaceOptions) *broker {
	h.t.Helper()
	ns, err := h.Create(name, o)
	if err != nil {
		h.t.Fatalf("create the namespace %q: %v", name, err)
	}
	if _, err := ns.Entities().CreateQueue("q", emulator.QueueOptions{}); err != nil {
		h.t.Fatalf("create a queue in %q: %v", name, err)
	}
	return h.in(name)
}

// in returns a namespace with its queue "q".
func (h *house) in(name string) *broker {
	h.t.Helper()
	ns, err := h.Namespace(name)
	if err != nil {
		h.t.Fatalf("find the namespace %q: %v", name, err)
	}
	q, err := ns.Entity("q")
	if err != nil {
		h.t.Fatalf("find the queue in %q: %v", name, err)
	}
	return &broker{t: h.t, j: &journal{Memory: h.m}, ns: ns, q: q}
}

// names returns the names of all namespaces.
func (h *house) names() []string { return mapped(h.Namespaces(), (*emulator.Namespace).Name) }

// isGone reports whether a namespace says that it was deleted.
func isGone(ns *emulator.Namespace) bool {
	select {
	case <-ns.Deleted():
		return true
	default:
		return false
	}
}
