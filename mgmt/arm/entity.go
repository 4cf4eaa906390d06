package arm

import (
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"minibus/emulator"
	"minibus/internal/entitypath"
	"minibus/mgmt/atom"
)

func init() {
	for _, k := range []struct {
		name string
		put  operation
		list operation
	}{
		{"queues", (*Manager).putQueue, (*Manager).listQueues},
		{"topics", (*Manager).putTopic, (*Manager).listTopics},
		{"topics/subscriptions", (*Manager).putSubscription, (*Manager).listTopicSubscriptions},
	} {
		register(kind{
			name: serviceBus + "/namespaces/" + k.name, list: k.list,
			methods: map[string]operation{
				http.MethodGet: (*Manager).getEntity, http.MethodHead: (*Manager).getEntity, http.MethodPut: k.put,
				http.MethodDelete: (*Manager).deleteEntity,
			},
		})
	}
}

// entityName returns the name of an entity. Names in ids have a tilde for a slash.
func entityName(name string) string { return strings.ReplaceAll(name, "~", "/") }

func idName(name string) string { return strings.ReplaceAll(name, "/", "~") }

// hasNoID reports whether a queue or topic can't be told from another one in ids, where a tilde stands for a slash.
// Only the administration and the control API know it.
func hasNoID(name string) bool { return strings.Contains(name, "~") }

// path returns the path of the entity that an id names, or that has the rules which it names.
func (id ID) path() string {
	if len(id.Names) < 2 {
		return ""
	}
	path := entityName(id.Names[1])
	if len(id.Names) > 2 && strings.EqualFold(id.Types[2], subscriptions) {
		return entitypath.Subscription(path, id.Names[2]) // whose tildes are its own
	}
	return path
}

// kindOf returns the kind of the entity that an id names.
func (id ID) kindOf() emulator.EntityKind {
	switch {
	case strings.EqualFold(id.Types[1], "queues"):
		return emulator.KindQueue
	case len(id.Names) > 2 && strings.EqualFold(id.Types[2], subscriptions):
		return emulator.KindSubscription
	}
	return emulator.KindTopic
}

// entity returns the entity that an id names, with its namespace.
func (m *Manager) entity(id ID) (*emulator.Entity, located, error) {
	s, err := m.find(id)
	if err != nil {
		return nil, s, err
	}
	e, err := s.ns.Entity(id.path())
	if err != nil || e.Kind() != id.kindOf() {
		return nil, s, entityNotFound(id)
	}
	return e, s, nil
}

// entityNotFound answers for an entity, rule or policy that does not exist.
func entityNotFound(id ID) *Error {
	return gateway(id, http.StatusNotFound, 40400, "Not Found. The requested resource does not exist. "+atom.MoreInfo)
}

// show returns what the table of properties reads of an entity.
func (s located) show(e *emulator.Entity) *shownEntity {
	x := &shownEntity{
		kind: queue, options: e.Options(), counts: e.Counts(), times: e.Times(), profile: s.ns.Profile(),
		isPremium: s.SKU.Name == premium,
	}
	switch e.Kind() {
	case emulator.KindTopic:
		x.kind = topic
		if t, err := e.Topic(); err == nil {
			o := t.Options()
			x.options, x.ordering = o.Queue(), supportsOrdering(&o)
		}
	case emulator.KindSubscription:
		x.kind = subscription
		if sub, err := e.Subscription(); err == nil {
			o := sub.Options()
			x.options, x.client = o.Queue, o.Client
			x.filterErrors = o.DeadLetteringOnFilterErrors == nil || *o.DeadLetteringOnFilterErrors
		}
	}
	return x
}

// supportsOrdering returns whether a topic keeps the order, as it shows.
func supportsOrdering(o *emulator.TopicOptions) bool {
	if o.Admin.SupportOrdering != nil {
		return *o.Admin.SupportOrdering
	}
	return !o.EnablePartitioning
}

// shown returns an entity as answers show it, with an id.
func (s located) shown(e *emulator.Entity, id ID) object {
	return object{
		"id": id.String(), "name": id.Name(), "type": id.Type(), "location": shownLocation(s.Location),
		"properties": s.show(e).properties(),
	}
}

func (m *Manager) getEntity(c *call) (answer, error) {
	e, s, err := m.entity(c.id)
	if err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusOK, body: s.shown(e, c.id)}, nil
}

func (m *Manager) listQueues(c *call) (answer, error) { return m.listEntities(c, emulator.KindQueue) }

func (m *Manager) listTopics(c *call) (answer, error) { return m.listEntities(c, emulator.KindTopic) }

// listEntities answers with a page of the queues or topics.
func (m *Manager) listEntities(c *call, kind emulator.EntityKind) (answer, error) {
	s, err := m.find(c.id)
	if err != nil {
		return answer{}, err
	}
	all, _ := s.ns.Entities().Page(kind, 0, 1<<30)
	all = slices.DeleteFunc(slices.Clone(all), func(e *emulator.Entity) bool { return hasNoID(e.Path()) })
	return list(c, len(all), func(i int) any {
		return s.shown(all[i], c.id.Parent().Child(c.id.Types[1], idName(all[i].Path())))
	})
}

func (m *Manager) listTopicSubscriptions(c *call) (answer, error) {
	e, s, err := m.entity(c.id.Parent())
	if err != nil {
		return answer{}, err
	}
	all, err := s.ns.Entities().Subscriptions(e.Path())
	if err != nil {
		return answer{}, err
	}
	return list(c, len(all), func(i int) any {
		return s.shown(all[i].Entity, c.id.Parent().Child(subscriptions, all[i].Options().Name))
	})
}

// change is a PUT of an entity.
type change struct {
	*call
	located
	body envelope
	old  *emulator.Entity // nil: it is new
}

// begin reads a PUT of an entity. The order of the checks is the administration's.
func (m *Manager) begin(c *call) (*change, error) {
	s, err := m.find(c.id)
	if err != nil {
		return nil, err
	}
	kind := c.id.kindOf()
	if s.SKU.Name == basic && kind != emulator.KindQueue {
		return nil, gateway(c.id, http.StatusNotFound, 40400, "Not Found. The Basic tier has no topics. "+atom.MoreInfo)
	}
	x := &change{call: c, located: s}
	if err := c.read(&x.body); err != nil {
		return nil, err
	}
	if err := s.checkName(c.id, kind); err != nil {
		return nil, err
	}
	e, err := s.ns.Entity(c.id.path())
	if err != nil {
		return x, s.checkTilde(c.id, kind)
	}
	if e.Kind() != kind {
		return nil, conflict("MessagingGatewayConflict", "SubCode=40900. Conflict. A queue or topic of another kind "+
			"has the name '%s'. %s", c.id.path(), atom.MoreInfo)
	}
	x.old = e
	return x, nil
}

// checkName fails if an entity can't have the name, or if its topic does not exist.
func (s located) checkName(id ID, kind emulator.EntityKind) error {
	limits, err := s.ns.Profile(), error(nil)
	if kind == emulator.KindSubscription {
		if t, err := s.ns.Entity(entityName(id.Names[1])); err != nil || t.Kind() != emulator.KindTopic {
			return entityNotFound(id)
		}
		err = atom.CheckSubscription(entityName(id.Names[2]), limits)
	} else {
		err = atom.CheckPath(id.path(), limits)
	}
	if wrong := new(atom.Error); errors.As(err, &wrong) {
		wrong.SubCode = 40000 // ATOM has none for subscriptions
		return gateway(id, http.StatusBadRequest, 0, wrong.Error())
	}
	return nil
}

// checkTilde fails if an id would also be that of a queue or topic that has a tilde in its name.
func (s located) checkTilde(id ID, kind emulator.EntityKind) error {
	if kind == emulator.KindSubscription || !strings.Contains(id.Names[1], "~") {
		return nil
	}
	for _, of := range []emulator.EntityKind{emulator.KindQueue, emulator.KindTopic} {
		all, _ := s.ns.Entities().Page(of, 0, 1<<30)
		for _, e := range all {
			if hasNoID(e.Path()) && strings.EqualFold(idName(e.Path()), id.Names[1]) {
				return conflict("MessagingGatewayConflict", "SubCode=40900. Conflict. In ids a tilde stands for a "+
					"slash, and the entity '%s' has a tilde in its name: '%s' could not be told from it. Choose "+
					"another name, or delete that entity with the administration API. %s", e.Path(), id.path(),
					atom.MoreInfo)
			}
		}
	}
	return nil
}

// sizes gives the sizes what the tier says. Below Premium no other size of messages can be set, and what is the
// default anyway is no setting, so that the profile of limits goes on counting. In Premium an entity with partitions
// shows the size that was set.
func (x *change) sizes(kilobytes, megabytes *int64) error {
	initial := int64(256)
	if x.SKU.Name == premium {
		initial = 1024
		if text, ok := property(x.body.Properties, "maxSizeInMegabytes"); ok {
			_ = json.Unmarshal(text, megabytes) // it is a number
		}
	}
	n := or(*kilobytes, initial)
	if x.SKU.Name != premium && n != initial {
		return gateway(x.id, http.StatusBadRequest, 40000, "The property value for 'MaxMessageSizeInKilobytes' must "+
			"be 256 in the "+x.SKU.Name+" tier.")
	}
	if n == x.ns.Profile().Limits().DefaultKilobytes {
		n = 0
	}
	*kilobytes = n
	return nil
}

// targets fails unless the targets of an entity are queues or topics of the namespace, or the entity itself.
func (x *change) targets(o *emulator.QueueOptions) error {
	for _, path := range []string{o.ForwardTo, o.ForwardDeadLetteredMessagesTo} {
		if path == "" || strings.EqualFold(path, x.id.path()) {
			continue
		}
		if kind, ok := x.ns.Kind(path); !ok || kind == emulator.KindSubscription {
			return gateway(x.id, http.StatusBadRequest, 40400, "The auto forwarding destination entity does not exist.")
		}
	}
	return nil
}

func (m *Manager) putQueue(c *call) (answer, error) {
	x, err := m.begin(c)
	if err != nil {
		return answer{}, err
	}
	d, err := x.document(queue, "QueueDescription", x.body.Properties)
	if err != nil {
		return answer{}, err
	}
	description, err := atom.ParseQueue(d, x.ns.Profile())
	if err != nil {
		return answer{}, err
	}
	var o, old emulator.QueueOptions
	if x.old == nil {
		o, err = description.Create()
	} else {
		old = x.old.Options()
		o, err = description.Update(old)
	}
	if err == nil {
		err = x.sizes(&o.MaxMessageSizeInKilobytes, &o.MaxSizeInMegabytes)
	}
	if err == nil {
		err = x.targets(&o)
	}
	if err == nil {
		err = x.basic(&shownEntity{kind: queue, options: o, profile: x.ns.Profile()})
	}
	if err != nil {
		return answer{}, err
	}
	switch path := c.id.path(); {
	case x.old == nil:
		_, err = x.ns.Entities().CreateQueue(path, o)
	case !reflect.DeepEqual(o, old): // a change ends the links
		_, err = x.ns.Entities().UpdateQueue(path, o)
	}
	return m.answerEntity(c, err)
}

// topic returns the settings of the topic that is there.
func (x *change) topic() (o emulator.TopicOptions) {
	if t, err := x.old.Topic(); err == nil { // begin has looked at its kind
		o = t.Options()
	}
	return o
}

func (m *Manager) putTopic(c *call) (answer, error) {
	x, err := m.begin(c)
	if err != nil {
		return answer{}, err
	}
	d, err := x.document(topic, "TopicDescription", x.body.Properties)
	if err != nil {
		return answer{}, err
	}
	description, err := atom.ParseTopic(d, x.ns.Profile())
	if err != nil {
		return answer{}, err
	}
	var o, old emulator.TopicOptions
	if x.old == nil {
		o, err = description.Create()
	} else {
		old = x.topic()
		o, err = description.Update(old)
	}
	if err == nil {
		err = x.sizes(&o.MaxMessageSizeInKilobytes, &o.MaxSizeInMegabytes)
	}
	if err != nil {
		return answer{}, err
	}
	switch path := c.id.path(); {
	case x.old == nil:
		_, err = x.ns.Entities().CreateTopic(path, o)
	case !reflect.DeepEqual(o, old):
		_, err = x.ns.Entities().UpdateTopic(path, o)
	}
	return m.answerEntity(c, err)
}

func (m *Manager) putSubscription(c *call) (answer, error) {
	x, err := m.begin(c)
	if err != nil {
		return answer{}, err
	}
	d, err := x.document(subscription, "SubscriptionDescription", x.body.Properties)
	if err != nil {
		return answer{}, err
	}
	description, err := atom.ParseSubscription(d, x.ns.Profile())
	if err != nil {
		return answer{}, inSubCode(err)
	}
	var o, old emulator.SubscriptionOptions
	if x.old == nil {
		o, err = description.Create(c.id.Name())
	} else {
		old = *x.old.Settings().Subscription
		o, err = description.Update(old)
	}
	if err == nil {
		err = x.targets(&o.Queue)
	}
	if err != nil {
		return answer{}, inSubCode(err)
	}
	switch name := entityName(c.id.Names[1]); {
	case x.old == nil:
		_, err = x.ns.Entities().CreateSubscription(name, o)
	case !reflect.DeepEqual(o.Queue, old.Queue) || x.show(x.old).filterErrors != description.FilterErrors:
		_, err = x.ns.Entities().UpdateSubscription(name, o)
	}
	return m.answerEntity(c, err)
}

// inSubCode gives an error about a subscription the sub-code that ATOM leaves out there.
func inSubCode(err error) error {
	if wrong := new(atom.Error); errors.As(err, &wrong) {
		wrong.SubCode = 40000
	}
	return err
}

// basic fails if a queue has what the Basic tier does not have.
func (x *change) basic(e *shownEntity) error {
	if x.SKU.Name != basic {
		return nil
	}
	plain := &shownEntity{kind: e.kind, profile: e.profile}
	for _, p := range entityProperties {
		if p.tier != notBasic || p.kinds&e.kind == 0 || p.show(e) == p.show(plain) {
			continue
		}
		return gateway(x.id, http.StatusBadRequest, 40000, "The property '"+upper(p.name)+"' can't be set when "+
			"creating a Queue because the namespace '"+x.ns.Name()+"' is using the 'Basic' Tier.")
	}
	return nil
}

// answerEntity answers a PUT with the entity, unless it failed.
func (m *Manager) answerEntity(c *call, err error) (answer, error) {
	if err != nil {
		return answer{}, err
	}
	return m.getEntity(c)
}

func (m *Manager) deleteEntity(c *call) (answer, error) {
	_, s, err := m.entity(c.id)
	if err == nil {
		err = s.ns.Entities().Delete(c.id.path())
	}
	if err == nil {
		err = m.forget(m.keys(c.id)...)
	}
	return deleted(c, s, err)
}
