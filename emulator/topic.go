package emulator

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"minibus/emulator/filter"
)

// Topic is an entity with subscriptions and their rules (TOP-1). The topic's mutex guards them, so that the sends to
// a topic, and changes of its rules, are one after another; the mutex of a subscription is taken inside it, one at a
// time.
type Topic struct {
	*Entity

	bytes   atomic.Int64 // of what its subscriptions hold, each body once (QUO-4)
	touched atomic.Int64 // ms; when a subscription was used last (IDLE-2)
	largest atomic.Int64 // bytes; limit of a message, for the subscriptions too (QUO-5, SESS-23)
	weight  atomic.Int64 // operations that the journal made of a message sent last

	// rooms are those of publications that have ended, cleared. Otherwise each copy would leave garbage behind that is
	// as large as itself.
	rooms sync.Pool // of *[]entitySteps

	// guarded by the topic's mutex
	settings   TopicOptions             // without subscriptions
	subs       map[string]*Subscription // by lower-case name
	index      filter.Index[*rule]      // of the rules of all subscriptions
	rules      int64                    // made so far
	sql        int                      // rules with a SQL filter (QUO-10)
	offered    int64                    // messages that the rules have been asked about since the namespace was opened
	match      match
	activating dueList
}

func newTopic(ns *Namespace, id int64, path string, o TopicOptions) *Topic {
	o.Subscriptions = nil
	t := &Topic{Entity: newEntity(ns, id, KindTopic, path, o.Queue()), settings: o,
		subs: make(map[string]*Subscription)}
	t.topic = t
	t.largest.Store(t.options.maxMessageBytes(ns.Profile()))
	return t
}

// addSubscription lets the topic's messages, from now on, come to a subscription too (TOP-3).
func (t *Topic) addSubscription(s *Subscription) {
	t.subs[strings.ToLower(s.name)] = s
	for _, r := range s.rules {
		t.file(r)
	}
}

// removeSubscription is the opposite of addSubscription.
func (t *Topic) removeSubscription(s *Subscription) {
	delete(t.subs, strings.ToLower(s.name))
	for _, r := range s.rules {
		t.unfile(r)
	}
}

// nextOrder numbers another rule, behind all that were made before.
func (t *Topic) nextOrder() int64 {
	t.rules++
	return t.rules
}

// order numbers new rules in the order in which they stand.
func (t *Topic) order(rules []*rule) {
	for _, r := range rules {
		r.order = t.nextOrder()
	}
}

// file lets a rule decide about messages, unless its subscription is being deleted.
func (t *Topic) file(r *rule) {
	if t.subs[strings.ToLower(r.subscription.name)] != r.subscription {
		return
	}
	t.index.Add(r, r.matcher)
	r.subscription.reach = reach{since: t.ns.Now(), from: t.offered}
	if r.options.Correlation == nil {
		t.sql++
	}
}

func (t *Topic) unfile(r *rule) {
	before := t.index.Len()
	t.index.Remove(r)
	r.subscription.reach = reach{since: t.ns.Now(), from: t.offered}
	if r.options.Correlation == nil {
		t.sql -= before - t.index.Len()
	}
}

// byID returns the subscriptions in the order in which they are to be locked.
func (t *Topic) byID() []*Subscription {
	list := make([]*Subscription, 0, len(t.subs))
	for _, s := range t.subs {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b *Subscription) int { return cmp.Compare(a.id, b.id) })
	return list
}

// Options returns the settings of a topic, without its subscriptions.
func (t *Topic) Options() TopicOptions {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.settings
}

// receiverWaits reports whether a receiver waits at one of the subscriptions.
func (t *Topic) receiverWaits() bool {
	for _, s := range t.subs {
		s.mu.Lock()
		waits := s.usage.receiverWaits()
		s.mu.Unlock()
		if waits {
			return true
		}
	}
	return false
}
