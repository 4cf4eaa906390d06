package control

import (
	"context"
	"math"

	"minibus/emulator"
	"minibus/mgmt/control/api"
)

func (h *handler) getTree(_ context.Context, in *struct {
	InNamespace
	Limit  int    `query:"limit" minimum:"1" maximum:"10000" default:"1000" doc:"The most queues and topics of a page"`
	Cursor string `query:"cursor" doc:"What the page before had in next"`
}) (*struct{ Body api.Page[api.Branch] }, error) {
	ns, err := in.find(h)
	if err != nil {
		return nil, err
	}
	p := Paged{in.Limit, in.Cursor}
	found, next := p.cut(entitiesOf(ns, func(kind emulator.EntityKind, _ string) bool {
		return kind != emulator.KindSubscription
	}))
	var out struct{ Body api.Page[api.Branch] }
	out.Body.Items = []api.Branch{}
	out.Body.Next = next
	for _, e := range found {
		out.Body.Items = append(out.Body.Items, shownBranch(ns, e))
	}
	return &out, nil
}

// shownBranch returns a queue or a topic as the tree shows it.
func shownBranch(ns *emulator.Namespace, e *emulator.Entity) api.Branch {
	b := api.Branch{Entity: shownEntity(e), Forwards: forwardsOf(e)}
	if e.Kind() != emulator.KindTopic {
		return b
	}
	b.Subscriptions = []api.Leaf{}
	list, _ := ns.Entities().Subscriptions(e.Path()) // none of a topic that was deleted meanwhile
	for _, s := range list {
		l := api.Leaf{
			Entity:   shownEntity(s.Entity),
			Forwards: forwardsOf(s.Entity),
			Name:     s.Options().Name,
			Rules:    []string{},
		}
		rules, _ := s.Rules(0, math.MaxInt)
		for _, r := range rules {
			l.Rules = append(l.Rules, r.Name)
		}
		b.Subscriptions = append(b.Subscriptions, l)
	}
	return b
}

func forwardsOf(e *emulator.Entity) api.Forwards {
	o := e.Options()
	return api.Forwards{ForwardTo: o.ForwardTo, ForwardDeadLetteredMessagesTo: o.ForwardDeadLetteredMessagesTo}
}
