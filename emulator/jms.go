package emulator

import (
	crand "crypto/rand"
	"errors"
	"strings"
	"time"

	"minibus/emulator/filter"
)

// SubscribeOptions are the options of [Namespace.Subscribe]: the subscription that a JMS consumer of a topic asks for.
type SubscribeOptions struct {
	Name     string // that the client gave; without meaning unless Durable or Shared
	ClientID string // "": the client has none
	Durable  bool
	Shared   bool
	Selector string // "": all messages

	AutoDeleteOnIdle time.Duration // of a durable one that is made; 0: never

	// Replaces is the path of the subscription of the same name at another topic, which the client may delete; "": it
	// may delete none (JMS-8)
	Replaces string
}

// Subscribe makes the subscription of a topic that a JMS consumer asks for, resumes it, or joins its other consumers,
// and returns once that is durable (JMS-4). The consumer keeps the subscription until [Subscription.Leave]. Without a
// consumer, one that has another selector or belongs to another topic is deleted and made anew (JMS-8). A subscription
// whose rules somebody has changed by hand keeps them, whatever the selector.
//
// Errors: CodeNotFound without the topic, CodeArgument for a name, client id or selector that can't be,
// CodeNotAllowed while others have the name (JMS-7), CodeQuotaExceeded (QUO-10). Subscribe must not be called where
// waiting for a commit is not possible.
func (ns *Namespace) Subscribe(topic string, o SubscribeOptions) (*Subscription, error) {
	if !o.Durable && !o.Shared { // no other client can join it
		o.Name = randomName()
		if strings.HasPrefix(o.ClientID, madeID) {
			o.ClientID = ""
		}
	}
	o.Selector = strings.TrimSpace(o.Selector)
	if err := o.check(ns.Profile()); err != nil {
		return nil, err
	}
	ns.admin.Lock()
	defer ns.admin.Unlock()
	t, err := ns.catalog.findTopic(topic)
	if err != nil {
		return nil, err
	}
	s, err := ns.Entities().joinOrClearLocked(t, &o)
	if err == nil && s == nil {
		s, err = ns.Entities().subscribeLocked(t, o.options())
	}
	if err != nil {
		return nil, err
	}
	s.consumers.Add(1)
	s.mu.Lock()
	s.usage.touch(ns.Now())
	s.mu.Unlock()
	return s, nil
}

// madeID begins the ids that JMS libraries make up for clients without one.
const madeID = "ID:"

// randomName returns a name that nothing else has.
func randomName() string {
	var id LockToken
	crand.Read(id[:])
	return id.String()
}

// client returns what the subscription has to do with its clients.
func (o *SubscribeOptions) client() *ClientAffine {
	return &ClientAffine{ClientID: o.ClientID, Durable: o.Durable, Shared: o.Shared, Selector: o.Selector}
}

// options returns the settings of a new subscription.
func (o *SubscribeOptions) options() SubscriptionOptions {
	c := o.client()
	s := SubscriptionOptions{Name: c.subscriptionName(o.Name), Client: c}
	if o.Durable {
		s.Queue.AutoDeleteOnIdle = o.AutoDeleteOnIdle
	}
	if o.Selector != "" {
		s.Rules = []RuleOptions{{Name: DefaultRuleName, SQL: o.Selector}}
	}
	return s
}

// check validates the name, the client id and the selector.
func (o *SubscribeOptions) check(l Profile) error {
	if err := o.client().checkNames(o.Name); err != nil {
		return err
	}
	if o.Selector == "" {
		return nil
	}
	if err := l.checkLength(o.Selector); err != nil {
		return err
	}
	if _, err := filter.ParseSelector(o.Selector); err != nil {
		return &Error{Code: CodeArgument, Text: "The selector can't be used", Err: err}
	}
	return nil
}

// joinOrClearLocked returns the subscription that a consumer may join or resume. It returns nil if there is
// none yet, or if the one of that name differs and has no consumer: that one is deleted. The caller holds ns.admin.
func (es Entities) joinOrClearLocked(t *Topic, o *SubscribeOptions) (*Subscription, error) {
	name := o.client().subscriptionName(o.Name)
	s := es.ns.catalog.lookUpAffine(name)
	if s == nil {
		return nil, nil
	}
	active := s.consumers.Load() > 0
	switch same := s.topic == t && s.servesSelector(o.Selector); {
	case active && !(o.Shared && s.client.Shared):
		return nil, errorf(CodeNotAllowed, s.path, "Cannot create a new consumer on subscriber %s because there is "+
			"already a subscriber using the same name with an active consumer on the same or different topic.", name)
	case o.Shared != s.client.Shared: // JMS allows one kind at a time
		return nil, errorf(CodeNotAllowed, s.path, "The subscription '%s' exists, and consumers %s. Unsubscribe it, "+
			"or use another name.", name, map[bool]string{true: "share it", false: "can't share it"}[s.client.Shared])
	case same:
		return s, nil
	case active:
		return nil, errorf(CodeNotAllowed, s.path, "The subscription '%s' has active consumers with another selector "+
			"or of another topic. Close them, or use another name.", name)
	}
	if s.topic != t {
		if !strings.EqualFold(s.path, o.Replaces) {
			return nil, errorf(CodeNotAllowed, t.path, "Another topic has a subscription '%s'. Unsubscribe it, or use "+
				"another name.", name)
		}
	}
	if err := s.roomToReplace(t, o); err != nil {
		return nil, err // before the old one is gone
	}
	return nil, es.deleteLocked(s.Entity, nil) // JMS-8
}

// roomToReplace fails if the subscription that a consumer wants instead of this one is above the profile's limits.
func (s *Subscription) roomToReplace(t *Topic, o *SubscribeOptions) error {
	options := o.options()
	next := newSubscription(t, 0, subscriptionPath(t.path, options.Name), options)
	rules, err := next.compileAll(options.Rules, s.ns.Now(), s.ns.Profile())
	if err != nil {
		return err
	}
	if s.topic != t {
		return t.roomForSubscription(next, rules)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return s.roomLocked(rules)
}

// lookUpAffine returns the subscription of JMS clients with that name, of any topic, or nil.
func (c *catalog) lookUpAffine(name string) *Subscription {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if q := c.affine[strings.ToLower(name)]; q != nil {
		return q.subscription
	}
	return nil
}

// servesSelector reports whether the subscription selects what a consumer with a selector wants, or has rules by hand,
// which stay whatever the selector.
func (s *Subscription) servesSelector(text string) bool {
	s.topic.mu.Lock()
	defer s.topic.mu.Unlock()
	if len(s.rules) != 1 {
		return true
	}
	o := &s.rules[0].options
	made := s.client.Selector
	asMade := o.SQL == made && o.selector() != nil
	if made == "" {
		asMade = strings.EqualFold(o.Name, DefaultRuleName) && o.IsTrue()
	}
	return !asMade || o.Action != "" || text == made
}

// Leave ends what Subscribe began for a consumer. A subscription that is not durable is deleted with its last consumer,
// unless it is gone already or was replaced by a reset. Leave returns once the deletion is durable.
func (s *Subscription) Leave() error {
	s.ns.admin.Lock()
	defer s.ns.admin.Unlock()
	if s.leaveLocked() > 0 || s.client.Durable {
		return nil
	}
	return s.ns.Entities().deleteLocked(s.Entity, nil)
}

// LeaveAndDelete is Leave, and deletes a durable subscription too. It fails with CodeNotAllowed if that has other
// consumers.
func (s *Subscription) LeaveAndDelete() error {
	s.ns.admin.Lock()
	defer s.ns.admin.Unlock()
	switch left := s.leaveLocked(); {
	case left > 0 && s.client.Durable:
		return s.inUse()
	case left > 0:
		return nil
	}
	return s.ns.Entities().deleteLocked(s.Entity, nil)
}

// leaveLocked counts a consumer out, and returns how many are left. The caller holds ns.admin.
func (s *Subscription) leaveLocked() (left int64) {
	left = s.consumers.Add(-1)
	s.mu.Lock()
	s.usage.touch(s.ns.Now())
	s.mu.Unlock()
	return left
}

// inUse says that a durable subscription has consumers.
func (s *Subscription) inUse() error {
	return errorf(CodeNotAllowed, s.path, "The subscription '%s' can't be deleted: it has an active consumer. Close "+
		"it first.", s.name)
}

// FindDurable returns the durable subscription of a JMS client; nil: there is none.
func (ns *Namespace) FindDurable(name, clientID string) *Subscription {
	return ns.catalog.lookUpAffine((&ClientAffine{ClientID: clientID, Durable: true}).subscriptionName(name))
}

// Unsubscribe deletes the durable subscription of a JMS client, and waits until that is durable. It fails with
// CodeNotFound if it is gone, even if there is another of its name, and with CodeNotAllowed while it has a consumer.
func (s *Subscription) Unsubscribe() error {
	s.ns.admin.Lock()
	defer s.ns.admin.Unlock()
	if s.ns.catalog.lookUpAffine(s.name) != s {
		return NotFound(s.name)
	}
	if s.consumers.Load() > 0 {
		return s.inUse()
	}
	return s.ns.Entities().deleteLocked(s.Entity, nil)
}

// fixedClient is the setting that says to which clients a subscription belongs, by its name in a Config.json.
const fixedClient = "ClientAffineProperties"

// completeClient completes the settings of a new subscription whose name is that of one of JMS clients, and fails if
// name and settings differ. Only JMS clients make one that is not durable, and no other topic may have one of the name.
func (es Entities) completeClient(t *Topic, o *SubscriptionOptions) error {
	name, c := ClientAffineOf(o.Name)
	switch given := o.Client; {
	case c == nil && given == nil:
		return nil
	case c == nil:
		return errorf(CodeArgument, o.Name, "The subscription '%s' belongs to JMS clients (IsClientAffine). Its name "+
			"must be NAME$CLIENTID$D, with the client id '%s'.", o.Name, given.ClientID)
	case given != nil && (!strings.EqualFold(given.ClientID, c.ClientID) || given.Durable != c.Durable):
		return errorf(CodeArgument, o.Name, "The name of the subscription '%s' says that the client id is '%s' and "+
			"IsDurable is %t, and its ClientAffineProperties say '%s' and %t.", o.Name, c.ClientID, c.Durable,
			given.ClientID, given.Durable)
	case !c.Durable:
		return errorf(CodeArgument, o.Name, "The subscription '%s' can't be created: one that is not durable is made "+
			"by its first JMS consumer, and ends with the last.", o.Name)
	case given == nil:
		o.Client = c
	}
	if s := es.ns.catalog.lookUpAffine(o.Name); s != nil && s.topic != t {
		return errorf(CodeAlreadyExists, s.path, "The topic '%s' has a subscription '%s' already, and JMS clients use "+
			"the name for one topic only.", s.topic.path, s.name)
	}
	return c.checkNames(name)
}

// transient reports whether the entity ends with a JMS client, and in any case with the process.
func (q *Entity) transient() bool {
	s := q.subscription
	return q.temporary || s != nil && (s.topic.temporary || s.client != nil && !s.client.Durable)
}

// checkChangeable fails for an entity that ends with a JMS client: a change tells its links to attach again (LOCK-17),
// and with them it would be gone.
func (q *Entity) checkChangeable() error {
	if q.transient() {
		return errorf(CodeNotAllowed, q.path, "The settings of '%s' can't be changed: it was made by a JMS client and "+
			"ends with it.", q.path)
	}
	return nil
}

// temporaryPrefix begins the paths of temporary queues and topics. A random name follows.
const temporaryPrefix = "jms-temp-"

// LooksTemporary reports whether a path is that of a temporary queue or topic of a JMS client.
func LooksTemporary(path string) bool {
	return len(path) == len(temporaryPrefix)+len(LockToken{}.String()) &&
		strings.EqualFold(path[:len(temporaryPrefix)], temporaryPrefix)
}

// CreateTemporary makes a queue or a topic for a JMS client, with a path that nothing else has, and waits until that is
// durable. It lasts until [Namespace.DeleteTemporary], or until the process ends. It fails with CodeQuotaExceeded where
// there are too many queues and topics.
func (ns *Namespace) CreateTemporary(topic bool) (path string, err error) {
	path = temporaryPrefix + randomName()
	if err := ns.Configuration().roomForMore(path); err != nil {
		return "", err
	}
	if topic {
		_, err = ns.Entities().CreateTopic(path, TopicOptions{Temporary: true})
	} else {
		_, err = ns.Entities().CreateQueue(path, QueueOptions{Temporary: true})
	}
	return path, err
}

// DeleteTemporary deletes a temporary queue or topic with everything in it, and waits until that is durable. What is
// gone already, or is not temporary, is left alone. If it fails it is tried again after a minute.
func (ns *Namespace) DeleteTemporary(path string) error {
	ns.admin.Lock()
	defer ns.admin.Unlock()
	q := ns.catalog.lookUp(path)
	if q == nil || !q.temporary {
		return nil
	}
	q.mu.Lock()
	q.abandoned = true
	q.usage.touch(ns.Now())
	q.mu.Unlock()
	return ns.Entities().deleteLocked(q, nil)
}

// AutoCreate creates the queue or topic to which a JMS client attaches, unless there is an entity with the path. It
// uses the defaults of the API (DEC-4), and returns once the entity is durable. It fails with CodeArgument for a path
// that no entity can have or for less than five minutes, and with CodeQuotaExceeded.
func (ns *Namespace) AutoCreate(path string, topic bool, autoDelete time.Duration) error {
	if ns.catalog.lookUp(path) != nil {
		return nil
	}
	err := ns.Profile().CheckPath(path)
	if err == nil {
		err = ns.Configuration().roomForMore(path)
	}
	switch {
	case err != nil:
	case topic:
		_, err = ns.Entities().CreateTopic(path, TopicOptions{AutoDeleteOnIdle: autoDelete})
	default:
		_, err = ns.Entities().CreateQueue(path, QueueOptions{AutoDeleteOnIdle: autoDelete})
	}
	if exists := (*Error)(nil); errors.As(err, &exists) && exists.Code == CodeAlreadyExists {
		return nil // another client was faster
	}
	return err
}
