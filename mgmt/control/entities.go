package control

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"

	"minibus/emulator"
	"minibus/internal/entitypath"
	"minibus/internal/printable"
	"minibus/mgmt/control/api"
)

// kinds are the names of the kinds of entities.
var kinds = map[emulator.EntityKind]string{
	emulator.KindQueue: "queue", emulator.KindTopic: "topic", emulator.KindSubscription: "subscription",
}

// The paths of operations on all entities and on one.
const (
	allEntities = "namespaces/{namespace}/entities"
	oneEntity   = allEntities + "/{entity}"
)

// entities registers the operations on entities.
func (h *handler) entities() {
	register(h, "listEntities", "GET "+allEntities, tagged("entities"), h.listEntities, 200, 400, 404)
	register(h, "getEntityTree", "GET namespaces/{namespace}/tree", tagged("entities"), h.getTree, 200, 400, 404)
	register(h, "getEntity", "GET "+oneEntity, tagged("entities"), h.getEntity, 200, 400, 404)
	h.entityChanges()
	h.rules()
}

func (h *handler) listEntities(_ context.Context, in *struct {
	InNamespace
	Paged
	Kind string `query:"kind" enum:"queue,topic,subscription" doc:"Only those of a kind"`
	Text string `query:"text" doc:"Only those whose path contains it, case-insensitively"`
}) (*struct{ Body api.Page[api.Entity] }, error) {
	ns, err := in.find(h)
	if err != nil {
		return nil, err
	}
	found, next := in.cut(entitiesOf(ns, func(kind emulator.EntityKind, path string) bool {
		return (in.Kind == "" || kinds[kind] == in.Kind) && strings.Contains(path, strings.ToLower(in.Text))
	}))
	refused := h.refusedByAzure(ns)
	return pageOf(found, next, func(e *emulator.Entity) api.Entity { return shownEntity(e, refused) }), nil
}

// placed is an entity with its path in lower case, by which entities are in order.
type placed struct {
	path string
	*emulator.Entity
}

// entitiesOf returns the entities of a namespace that are chosen by their kind and their path in lower case, by path.
func entitiesOf(ns *emulator.Namespace, chosen func(kind emulator.EntityKind, path string) bool) (list []placed) {
	for kind := range kinds {
		all, _ := ns.Entities().Page(kind, 0, maxEntities)
		for _, e := range all {
			if p := (placed{strings.ToLower(e.Path()), e}); chosen(kind, p.path) {
				list = append(list, p)
			}
		}
	}
	slices.SortFunc(list, func(x, y placed) int { return cmp.Compare(x.path, y.path) })
	return list
}

// cut returns the page of a list that the arguments mean, and the cursor of the next one.
func (in *Paged) cut(all []placed) (list []*emulator.Entity, next string) {
	from, _ := slices.BinarySearchFunc(all, in.Cursor, func(p placed, cursor string) int {
		return cmp.Or(cmp.Compare(p.path, cursor), -1) // behind the cursor
	})
	for _, p := range all[from:min(from+in.Limit, len(all))] {
		list, next = append(list, p.Entity), p.path
	}
	if from+in.Limit >= len(all) {
		next = ""
	}
	return list, next
}

// maxEntities is more than a namespace can have.
const maxEntities = 1 << 30

// refusedByAzure returns what no tier of Azure takes of the settings of a namespace's entities, by path.
func (h *handler) refusedByAzure(ns *emulator.Namespace) map[string][]api.Beyond {
	all := make(map[string][]api.Beyond)
	for _, r := range h.server.AzureRefusals(ns) {
		if r.EveryTier() {
			all[r.Entity] = append(all[r.Entity], api.Beyond{Rule: r.Setting, Text: r.Text, Count: 1})
		}
	}
	return all
}

// shownEntity returns an entity as lists show it. refused has what Azure refuses of settings, by path.
func shownEntity(e *emulator.Entity, refused map[string][]api.Beyond) api.Entity {
	t, f, minute := e.Traffic(), e.Facts(), e.LastMinute()
	out := api.Entity{
		Path:    e.Path(),
		Kind:    kinds[e.Kind()],
		Status:  string(cmp.Or(e.Options().Status, emulator.StatusActive)),
		Counts:  shownCounts(e.Counts()),
		Traffic: api.Traffic{Stored: t.Stored, Delivered: t.Delivered, Completed: t.Completed},

		LastMinute: api.LastMinute{Stored: minute.Stored, Completed: minute.Completed},
		Receivers:  f.Receivers,
		Temporary:  e.Temporary(),
	}
	if s, err := e.Subscription(); err == nil {
		if c := s.Client(); c != nil {
			out.ClientAffine = &api.ClientAffine{ClientID: c.ClientID, Durable: c.Durable, Shared: c.Shared,
				Consumers: s.JMSConsumers()}
		}
	}
	if f.OldestEnqueued != 0 {
		out.OldestEnqueued = new(instant(f.OldestEnqueued))
	}
	for _, b := range e.Beyond() {
		out.BeyondAzure = append(out.BeyondAzure, api.Beyond{Rule: b.Rule, Text: b.Text, Count: b.Count})
	}
	out.BeyondAzure = append(out.BeyondAzure, refused[e.Path()]...)
	return out
}

// shownCounts returns counts as answers show them.
func shownCounts(c emulator.Counts) api.Counts {
	return api.Counts{
		Active:             c.Active,
		Deferred:           c.Deferred,
		Scheduled:          c.Scheduled,
		DeadLetter:         c.DeadLetter,
		Transfer:           c.Transfer,
		TransferDeadLetter: c.TransferDeadLetter,
		SizeBytes:          c.SizeBytes,
	}
}

// AtEntity is an argument of operations on one entity.
type AtEntity struct {
	InNamespace
	Entity string `path:"entity" doc:"The path, with each slash as %2F: events%2FSubscriptions%2Flarge"`
}

// find returns the entity and the sub-queue that the path names.
func (in *AtEntity) find(h *handler) (*emulator.Entity, emulator.SubQueue, error) {
	ns, err := in.InNamespace.find(h)
	if err != nil {
		return nil, 0, err
	}
	return entityAt(ns, in.Entity)
}

// entityAt returns the entity and the sub-queue of a path.
func entityAt(ns *emulator.Namespace, path string) (*emulator.Entity, emulator.SubQueue, error) {
	e, sub, err := ns.EntityAt(path)
	return e, sub, guessed(ns, path, err)
}

// guessed adds to an error that there is no entity at a path which one may be meant. For a subscription without the
// part Subscriptions it says how to write the path.
func guessed(ns *emulator.Namespace, path string, err error) error {
	missing := (*emulator.Error)(nil)
	if !errors.As(err, &missing) || missing.Code != emulator.CodeNotFound {
		return err
	}
	guess := ""
	plain, _ := entitypath.CutSubQueue(path)
	i := strings.LastIndexByte(plain, '/')
	if sub, err := ns.Entity(plain[:max(i, 0)] + subscriptions + plain[i+1:]); err == nil {
		guess = " The path of the subscription is " + sub.Path() + ", in a URL with each slash as %2F."
	} else if near := nearest(ns, plain); near != "" {
		guess = " Did you mean " + near + "?"
	}
	return &emulator.Error{Code: missing.Code, Entity: missing.Entity, Text: missing.Text + guess, Err: missing.Err}
}

// subscriptions stands between a topic and a subscription in a path.
const subscriptions = "/Subscriptions/"

// nearest returns the path of the entity whose name is nearest to a path, empty if none is near. The part
// Subscriptions does not count.
func nearest(ns *emulator.Namespace, path string) string {
	var names []string
	paths := make(map[string]string)
	short := strings.NewReplacer(strings.ToLower(subscriptions), "/")
	for _, e := range entitiesOf(ns, func(emulator.EntityKind, string) bool { return true }) {
		name := short.Replace(e.path)
		names, paths[name] = append(names, name), e.Path()
	}
	return paths[printable.Closest(short.Replace(strings.ToLower(path)), names)]
}

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
	refused := h.refusedByAzure(ns)
	return pageOf(found, next, func(e *emulator.Entity) api.Branch { return shownBranch(ns, e, refused) }), nil
}

// shownBranch returns a queue or a topic as the tree shows it.
func shownBranch(ns *emulator.Namespace, e *emulator.Entity, refused map[string][]api.Beyond) api.Branch {
	b := api.Branch{Entity: shownEntity(e, refused), Forwards: forwardsOf(e)}
	if e.Kind() != emulator.KindTopic {
		return b
	}
	b.Subscriptions = []api.Leaf{}
	list, _ := ns.Entities().Subscriptions(e.Path()) // none of a topic that was deleted meanwhile
	for _, s := range list {
		l := api.Leaf{
			Entity:   shownEntity(s.Entity, refused),
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
