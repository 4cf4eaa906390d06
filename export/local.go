package export

import (
	"fmt"
	"strings"

	"minibus/emulator"
	"minibus/mgmt/atom"
)

// Of returns the entities of a namespace of this process, as [Read] returns them over the network: they take the same
// way, through the documents of the administration API.
func Of(name string, profile emulator.Profile, entities []emulator.EntityConfig) (*Namespace, error) {
	r := &reader{found: &Namespace{Name: name, Source: name, Premium: profile == emulator.ProfilePremium}}
	var wrong error
	take := func(name string, content atom.Content, add func(entry)) {
		view := atom.View{Version: apiVersion, Profile: profile, Full: true}
		p, err := parsePage(atom.Entry{Title: name, Content: content}.Encode(view))
		if err != nil {
			wrong = fmt.Errorf("export %s: %w", name, err)
			return
		}
		add(p.entries[0])
	}
	for _, e := range entities {
		path := strings.ToLower(e.Path) // as the lists have it (DEC-9)
		if e.Queue != nil {
			take(path, atom.Queue{Path: path, Options: *e.Queue}, r.queue)
			continue
		}
		n := len(r.found.Topics)
		take(path, atom.Topic{Path: path, Options: *e.Topic}, r.topic)
		if len(r.found.Topics) == n {
			continue // left out, with a warning
		}
		t := &r.found.Topics[n]
		for _, o := range e.Topic.Subscriptions {
			n := len(t.Subscriptions)
			take(o.Name, atom.Subscription{Name: o.Name, Options: o.Queue, Client: o.Client,
				FilterErrors: o.DeadLetteringOnFilterErrors == nil || *o.DeadLetteringOnFilterErrors},
				func(described entry) { r.subscription(t, described) })
			if len(t.Subscriptions) == n {
				continue
			}
			s := &t.Subscriptions[n]
			for _, rule := range o.Rules {
				take(rule.Name, atom.RuleOf(rule), func(described entry) { r.rule(t.Path, s, described) })
			}
		}
	}
	r.found.sort()
	return r.found, wrong
}
