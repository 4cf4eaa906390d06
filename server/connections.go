package server

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"minibus/amqpserver"
	"minibus/emulator"
	"minibus/mgmt/control/api"
)

// requestPrefix begins the ids of HTTP requests that wait for a message.
const requestPrefix = "http:"

// OpenConnections implements [control.Inspector].
func (a *Server) OpenConnections(ns *emulator.Namespace) []string {
	return append(a.amqp.Open(ns), slices.Collect(maps.Keys(a.waiting(ns)))...)
}

// Connections implements [control.Inspector].
func (a *Server) Connections(ns *emulator.Namespace, chosen func(id string) bool) []api.Connection {
	var list []api.Connection
	for _, c := range a.amqp.Inspect(ns, func(c *amqpserver.Connection) bool { return chosen == nil || chosen(c.ID) }) {
		list = append(list, a.shownConnection(&c))
	}
	for id, c := range a.waiting(ns) {
		if chosen == nil || chosen(id) {
			list = append(list, *c)
		}
	}
	return list
}

// CloseConnection implements [control.Inspector].
func (a *Server) CloseConnection(ns *emulator.Namespace, id string) error {
	if err := refuseRequest(id); err != nil {
		return err
	}
	return a.amqp.CloseConnection(ns, id)
}

// DetachLink implements [control.Inspector].
func (a *Server) DetachLink(ns *emulator.Namespace, id string, link int64) error {
	if err := refuseRequest(id); err != nil {
		return err
	}
	return a.amqp.DetachLink(ns, id, link)
}

// refuseRequest refuses to end an HTTP request.
func refuseRequest(id string) error {
	if !strings.HasPrefix(id, requestPrefix) {
		return nil
	}
	return &emulator.Error{Code: emulator.CodeNotAllowed,
		Text: "An HTTP request can't be closed: it ends with a message, or by itself within a minute. Stop its client."}
}

// waiting returns the HTTP requests of a namespace that wait for a message, by id.
func (a *Server) waiting(ns *emulator.Namespace) map[string]*api.Connection {
	all := make(map[string]*api.Connection)
	ns.EachAttached(func(e *emulator.Entity, at emulator.Attached) {
		if at.Client == nil || at.Client.Connection != "" {
			return
		}
		id := requestPrefix + at.Client.Remote
		c := all[id]
		if c == nil {
			c = &api.Connection{ID: id, Remote: at.Client.Remote, Transport: "http",
				Product: a.hider.Text(at.Client.Product), Since: time.UnixMilli(at.Since).UTC(), Policies: []string{}}
			all[id] = c
		}
		c.Links = append(c.Links,
			api.Link{ID: int64(len(c.Links) + 1), Role: "receiver", Address: at.Sub.Join(e.Path()), Entity: e.Path(),
				SubQueue: at.Sub.Name(),
				Mode:     modeName(at.Mode), Since: time.UnixMilli(at.Since).UTC(),
				LastActive: time.UnixMilli(at.Since).UTC(), Credit: 1, WaitsFor: string(amqpserver.ForMessage)})
	})
	return all
}

// shownConnection returns a connection as the control API shows it. Clients choose names, which may be secrets in a
// wrong place.
func (a *Server) shownConnection(c *amqpserver.Connection) api.Connection {
	s := api.Connection{ID: c.ID, Remote: c.Remote, Transport: string(c.Transport), Host: a.hider.Text(c.Host),
		Container: a.hider.Text(c.Container), Product: a.hider.Text(c.Product),
		Version: a.hider.Text(c.Version), Platform: a.hider.Text(c.Platform), Since: milli(c.Since),
		Policies: append([]string{}, c.Policies...), Busy: c.Busy, Ending: c.Ending,
		PendingBytes: c.Pending, Links: make([]api.Link, len(c.Links))}
	for i := range c.Links {
		s.Links[i] = a.shownLink(&c.Links[i])
	}
	return s
}

func (a *Server) shownLink(l *amqpserver.Link) api.Link {
	s := api.Link{ID: l.Number, Name: a.hider.Text(l.Name), Role: "sender", Address: a.hider.Text(l.Address),
		Entity: l.Entity, SubQueue: l.Sub.Name(), Selector: a.hider.Text(l.Selector), SessionID: l.Session,
		Since: milli(l.Since), LastActive: milli(l.Active), Credit: l.Credit, Unsettled: l.Unsettled,
		SessionWindow: l.Window, Deliveries: l.Passed, WaitsFor: string(l.WaitsFor)}
	if l.Receives {
		s.Role = "receiver"
		if l.Messages {
			s.Mode = modeName(l.Mode)
		}
		if l.Browses {
			s.Mode = "browse"
		}
	}
	if l.Session != nil {
		until := time.UnixMilli(l.Until).UTC()
		s.SessionLockedUntil = &until
	}
	return s
}

func milli(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

func modeName(m emulator.ReceiveMode) string {
	if m == emulator.ReceiveAndDelete {
		return "receiveAndDelete"
	}
	return "peekLock"
}

// Refusals implements [control.Inspector].
func (a *Server) Refusals(ns *emulator.Namespace) []emulator.Refusal {
	all := a.amqp.Refusals(ns)
	for i := range all {
		all[i].Text, all[i].Entity = a.hider.Text(all[i].Text), a.hider.Text(all[i].Entity)
	}
	return all
}

// Why implements [control.Inspector]. The connections of the receivers are asked for what they wait for.
func (a *Server) Why(ns *emulator.Namespace, e *emulator.Entity, sub emulator.SubQueue,
	client string) emulator.Diagnosis {
	receiving := make(map[string]bool)
	for _, at := range e.Attached() {
		if at.Client != nil && at.Sub == sub {
			receiving[at.Client.Connection] = true
		}
	}
	hindered := make(map[string]string)
	for _, c := range a.amqp.Inspect(ns, func(c *amqpserver.Connection) bool { return receiving[c.ID] }) {
		if c.Busy {
			hindered[c.ID] = "its connection is busy and does not answer"
		}
		for i := range c.Links {
			hindered[linkID(c.ID, c.Links[i].Number)] = hindrance(&c.Links[i])
		}
	}
	d := e.Why(emulator.Question{Sub: sub, Client: client, Refusals: a.Refusals(ns),
		Hindrance: func(w *emulator.Client) string {
			if text := hindered[w.Connection]; text != "" {
				return text
			}
			return hindered[linkID(w.Connection, w.Number)]
		}})
	for _, r := range a.AzureRefusals(ns) {
		if r.EveryTier() && r.Entity == e.Path() {
			d.Findings = append(d.Findings, emulator.Finding{
				Code: emulator.FindBeyondAzure, Text: "Azure refuses a setting: " + r.Text,
				Fix: "Change it, or start Minibus with --limits standard to be refused here too."})
		}
	}
	return d
}

func linkID(connection string, number int64) string { return fmt.Sprintf("%s/%d", connection, number) }

// hindrance says why a receiver takes no messages now; "": it does.
func hindrance(l *amqpserver.Link) string {
	switch l.WaitsFor {
	case amqpserver.ForCredit:
		text := "its client asks for no messages (credit 0)"
		if l.Unsettled > 0 {
			text += fmt.Sprintf(" and has not settled %d", l.Unsettled)
		}
		return text
	case amqpserver.ForWindow:
		return fmt.Sprintf("it has a credit of %d, but the client has closed the window of the AMQP session", l.Credit)
	case amqpserver.ForSettlement:
		return fmt.Sprintf("its client must settle first: it has %d messages, the most that its AMQP session may "+
			"have", l.Unsettled)
	case amqpserver.ForReading:
		return "its client does not read what was sent to it"
	case amqpserver.ForFault:
		return "an injected fault starves it; minibus fault ls shows which, and minibus fault rm removes it"
	case amqpserver.ForDetach:
		return "the link is ending"
	}
	return ""
}
