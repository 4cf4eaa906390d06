package amqpserver

import (
	"slices"
	"strings"
	"sync"
	"time"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
	"minibus/internal/printable"
)

// maxRefusals is how many refusals are remembered.
const maxRefusals = 256

// maxRefusalText bounds the text of one, in bytes. It can repeat what the client wrote.
const maxRefusalText = 512

// refusals are the links and tokens that were refused last, in a ring.
type refusals struct {
	mu   sync.Mutex // a leaf
	ring []refusal
	next int
}

type refusal struct {
	emulator.Refusal
	ns *emulator.Namespace
}

func (r *refusals) add(x refusal) {
	x.At, x.Text, x.Entity = time.Now(), printable.Clip(x.Text, maxRefusalText), printable.Clip(x.Entity, maxProperty)
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.ring) < maxRefusals {
		r.ring = append(r.ring, x)
		return
	}
	r.ring[r.next] = x
	r.next = (r.next + 1) % maxRefusals
}

// Refusals returns the links and tokens of a namespace that were refused last, the latest first. They are few, and gone with the process.
func (s *Server) Refusals(ns *emulator.Namespace) []emulator.Refusal {
	r := &s.refused
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []emulator.Refusal
	for i := range r.ring {
		if x := &r.ring[(r.next+i)%len(r.ring)]; x.ns == ns {
			list = append(list, x.Refusal)
		}
	}
	slices.Reverse(list)
	return list
}

// noteAttach remembers a refused attach.
func (c *conn) noteAttach(a *frames.Attach, failure amqpError) {
	n := parseAddress(addressOf(a))
	who := c.client()
	who.Link = printable.Clip(a.LinkName, maxProperty)
	c.srv.refused.add(refusal{emulator.Refusal{Client: who, Operation: "attach", Entity: n.path, Sub: n.sub, Condition: string(failure.condition), Text: failure.text}, c.ns})
}

// noteToken remembers a refused token.
func (c *conn) noteToken(audience, text string) {
	n := parseAddress(strings.TrimSpace(audience))
	condition := amqp.CondUnauthorized
	if strings.HasSuffix(text, "could not be found.") {
		condition = amqp.CondNotFound
	}
	c.srv.refused.add(refusal{emulator.Refusal{Client: c.client(), Operation: "put-token", Entity: n.path, Sub: n.sub, Condition: string(condition), Text: text}, c.ns})
}
