package emulator

import (
	"cmp"
	"slices"
	"strings"
	"sync/atomic"

	"minibus/emulator/filter"
)

// fan is what a topic has besides what every entity has: its subscriptions and their rules (TOP-1). The topic's mutex
// guards it, so that the sends to a topic, and changes of its rules, are one after another; the mutex of a subscription is
// taken inside it, one at a time.
type fan struct {
	bytes   atomic.Int64 // of what its subscriptions hold, each body once (QUO-4)
	touched atomic.Int64 // ms; when a subscription was used last (IDLE-2)
	largest atomic.Int64 // bytes; limit of a message, for the subscriptions too (QUO-5, SESS-23)

	// guarded by the topic's mutex
	options TopicOptions             // without subscriptions
	subs    map[string]*subscription // by lower-case name
	index   filter.Index[*rule]      // of the rules of all subscriptions
	rules   int64                    // made so far
	sql     int                      // rules with a SQL filter (QUO-10)
	match   match
}

// newTopic makes the entity of a topic.
func newTopic(ns *Namespace, id int64, path string, o TopicOptions) *Queue {
	o.Subscriptions = nil
	q := newQueue(ns, id, KindTopic, path, o.queue())
	q.fan = &fan{options: o, subs: make(map[string]*subscription)}
	q.fan.largest.Store(q.options.maxMessageBytes(ns.limits))
	return q
}

// admit lets the topic's messages, from now on, come to a subscription too (TOP-3).
func (f *fan) admit(s *subscription) {
	f.subs[strings.ToLower(s.name)] = s
	for _, r := range s.rules {
		f.file(r)
	}
}

// dismiss is the opposite of admit.
func (f *fan) dismiss(s *subscription) {
	delete(f.subs, strings.ToLower(s.name))
	for _, r := range s.rules {
		f.unfile(r)
	}
}

// nextOrder numbers another rule, behind all that were made before.
func (f *fan) nextOrder() int64 {
	f.rules++
	return f.rules
}

// order numbers new rules in the order in which they stand.
func (f *fan) order(rules []*rule) {
	for _, r := range rules {
		r.order = f.nextOrder()
	}
}

// file lets a rule decide about messages, unless its subscription is being deleted.
func (f *fan) file(r *rule) {
	if f.subs[strings.ToLower(r.subscription.name)] != r.subscription {
		return
	}
	f.index.Add(r, r.matcher)
	if r.options.Correlation == nil {
		f.sql++
	}
}

func (f *fan) unfile(r *rule) {
	before := f.index.Len()
	f.index.Remove(r)
	if r.options.Correlation == nil {
		f.sql -= before - f.index.Len()
	}
}

// byID returns the subscriptions in the order in which they are to be locked.
func (f *fan) byID() []*subscription {
	list := make([]*subscription, 0, len(f.subs))
	for _, s := range f.subs {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b *subscription) int { return cmp.Compare(a.q.id, b.q.id) })
	return list
}

// TopicOptions returns the settings of a topic, without its subscriptions; zero on another entity.
func (q *Queue) TopicOptions() TopicOptions {
	if q.fan == nil {
		return TopicOptions{}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.fan.options
}

// waitingLocked reports whether a receiver waits at one of the subscriptions.
func (f *fan) waitingLocked() bool {
	for _, s := range f.subs {
		s.q.mu.Lock()
		waits := s.q.waitingLocked()
		s.q.mu.Unlock()
		if waits {
			return true
		}
	}
	return false
}
