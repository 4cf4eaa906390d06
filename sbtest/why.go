package sbtest

import (
	"slices"
	"testing"
)

// Diagnosis says what stands in the way of receiving from an entity. Printed with %s it has a line for each finding
// and one for what to do.
type Diagnosis struct {
	Entity    string // path, with its sub-queue
	Available int64  // messages that a receiver could have now
	Receivers int    // that are attached, of those that were asked about
	Findings  []Finding

	text string
}

// Finding is one thing that stands in the way, or explains where messages are.
type Finding struct {
	Code   string // such as no-receiver
	Blocks bool   // nothing is received while it is so
	Text   string // a sentence or more
	Fix    string // what to do; may be empty
}

// Blocked reports whether nothing can be received.
func (d *Diagnosis) Blocked() bool {
	return slices.ContainsFunc(d.Findings, func(f Finding) bool { return f.Blocks })
}

// Has reports whether there is a finding with that code.
func (d *Diagnosis) Has(code string) bool {
	return slices.ContainsFunc(d.Findings, func(f Finding) bool { return f.Code == code })
}

// String returns the findings, a line each, with what to do below them.
func (d *Diagnosis) String() string { return d.text }

// Why says what stands in the way of receiving from an entity, such as "orders", "events/Subscriptions/all" or
// "orders/$DeadLetterQueue". A test that waits for a message in vain can print it:
//
//	t.Fatalf("the order was not processed: %s", bus.Why(t, "orders"))
//
// With the name of a client, only its receivers count: the id of a [Connection], its container or address, or the
// name of a [Link]. It changes nothing.
func (n *Namespace) Why(t testing.TB, entity string, client ...string) *Diagnosis {
	t.Helper()
	if len(client) > 1 {
		t.Fatalf("sbtest: why: name one client, not %q", client)
	}
	e, sub, err := n.ns.EntityAt(entity)
	check(t, "why", err)
	found := n.server.Why(n.ns, e, sub, append(client, "")[0])
	d := &Diagnosis{Entity: found.Path, Available: found.Available, Receivers: found.Receivers, text: found.String()}
	for _, f := range found.Findings {
		d.Findings = append(d.Findings, Finding{Code: string(f.Code), Blocks: f.Blocks, Text: f.Text, Fix: f.Fix})
	}
	return d
}
