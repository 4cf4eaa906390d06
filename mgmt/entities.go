package mgmt

import (
	"net/http"
	"time"

	"minibus/emulator"
	"minibus/mgmt/atom"
)

// getNamespace answers with the namespace's properties.
func (c *call) getNamespace() (*answer, error) {
	name := c.namespace.Name()
	created := time.UnixMilli(c.namespace.Created())
	n := atom.Namespace{Name: name, Created: created, Modified: created, SKU: "Standard"}
	if c.profile == emulator.ProfilePremium {
		n.SKU, n.Units = "Premium", 1
	}
	if manager := c.may.access.options.ARM; manager != nil { // it knows the tier, whatever the limits are
		known := manager.Resource(c.namespace.Namespace)
		n.SKU, n.Units = known.SKU, known.Capacity
	}
	a := c.entry(http.StatusOK, atom.Entry{Title: name, Author: name, Updated: c.now, Content: n}, true)
	a.updated = 0 // no ETag here
	return a, nil
}

// getEntity answers with the queue or topic at the path, or with the feed of nothing.
func (c *call) getEntity() (*answer, error) {
	path := c.target.entity
	switch c.namespace.Kind(path) {
	case emulator.KindQueue:
		if q, err := c.namespace.Queue(path); err == nil {
			return c.entry(http.StatusOK, c.queueEntry(q, path), true), nil
		}
	case emulator.KindTopic:
		if t, err := c.namespace.Topic(path); err == nil {
			return c.entry(http.StatusOK, c.topicEntry(t, path), true), nil
		}
	}
	return c.nothing(), nil // also if it was deleted meanwhile
}

// queueEntry wraps a queue. The title is the name in the client's spelling.
func (c *call) queueEntry(q atom.Queue, title string) atom.Entry {
	return atom.Entry{
		Title:     title,
		Published: q.Times.Created,
		Updated:   q.Times.Updated,
		Author:    c.namespace.Name(),
		Content:   q,
	}
}

func (c *call) topicEntry(t atom.Topic, title string) atom.Entry {
	return atom.Entry{
		Title:     title,
		Published: t.Times.Created,
		Updated:   t.Times.Updated,
		Author:    c.namespace.Name(),
		Content:   t,
	}
}

// putEntity creates or updates a queue or a topic, as the body says.
func (c *call) putEntity() (*answer, error) {
	if err := atom.CheckPath(c.target.entity, c.profile); err != nil {
		return nil, err
	}
	d, err := c.description()
	if err != nil {
		return nil, err
	}
	switch d.Name {
	case "QueueDescription":
		return c.putQueue(d)
	case "TopicDescription":
		return c.putTopic(d)
	}
	return nil, badRequest("The body of the request describes neither a queue nor a topic.")
}

func (c *call) putQueue(d *atom.Element) (*answer, error) {
	path := c.target.entity
	description, err := atom.ParseQueue(d, c.profile)
	if err != nil {
		return nil, err
	}
	if err := c.may.forward(description, backend(c.namespace, "Queue", c.target.String())); err != nil {
		return nil, err
	}
	if !c.isUpdate() {
		return c.createQueue(description)
	}
	old, err := c.namespace.Queue(path)
	if err != nil {
		return nil, missing(err, errUpdateMissing)
	}
	o, err := description.Update(old.Options)
	if err == nil {
		err = c.checkTargets(description, path, old.Options)
	}
	if err != nil {
		return nil, about(err, backend(c.namespace, "Queue", c.target.String()))
	}
	q, err := c.namespace.UpdateQueue(path, o)
	if err != nil {
		return nil, missing(err, errUpdateMissing)
	}
	return c.entry(http.StatusOK, c.queueEntry(q, path), false), nil
}

func (c *call) createQueue(d *atom.SharedDescription) (*answer, error) {
	path := c.target.entity
	o, err := d.Create()
	if err == nil {
		err = c.namespace.vacant(path, "Queue")
	}
	if err == nil {
		err = c.checkTargets(d, path, emulator.QueueOptions{})
	}
	if err != nil {
		return nil, err
	}
	q, err := c.namespace.CreateQueue(path, o)
	if err != nil {
		return nil, instead(err, emulator.CodeAlreadyExists, errConflict)
	}
	return c.entry(http.StatusCreated, c.queueEntry(q, path), false), nil
}

func (c *call) putTopic(d *atom.Element) (*answer, error) {
	path := c.target.entity
	description, err := atom.ParseTopic(d, c.profile)
	if err != nil {
		return nil, err
	}
	if !c.isUpdate() {
		return c.createTopic(description)
	}
	old, err := c.namespace.Topic(path)
	if err != nil {
		return nil, missing(err, errUpdateMissing)
	}
	o, err := description.Update(old.Options)
	if err != nil {
		return nil, about(err, backend(c.namespace, "Topic", c.target.String()))
	}
	t, err := c.namespace.UpdateTopic(path, o)
	if err != nil {
		return nil, missing(err, errUpdateMissing)
	}
	return c.entry(http.StatusOK, c.topicEntry(t, path), false), nil
}

func (c *call) createTopic(d *atom.TopicDescription) (*answer, error) {
	path := c.target.entity
	o, err := d.Create()
	if err == nil {
		err = c.namespace.vacant(path, "Topic")
	}
	if err != nil {
		return nil, err
	}
	t, err := c.namespace.CreateTopic(path, o)
	if err != nil {
		return nil, instead(err, emulator.CodeAlreadyExists, errConflict)
	}
	return c.entry(http.StatusCreated, c.topicEntry(t, path), false), nil
}

func (c *call) deleteEntity() (*answer, error) {
	updated := c.namespace.updated(c.target.entity)
	if err := c.namespace.Namespace.Entities().Delete(c.target.entity); err != nil {
		return nil, missing(err, errDeleteMissing)
	}
	return &answer{status: http.StatusOK, updated: updated}, nil
}

// instead replaces the domain's error of a code, such as that of a creation that lost a race, by the operation's own
// answer.
func instead(err error, code emulator.Code, p *problem) error {
	if hasCode(err, code) {
		return p
	}
	return err
}

// missing replaces the domain's not-found.
func missing(err error, p *problem) error { return instead(err, emulator.CodeNotFound, p) }

// about puts the entity into the tail of a refusal, as the service's back end does.
func about(err error, tracker string) error {
	p := *problemOf(err)
	p.tracker = tracker
	return &p
}

func (c *call) listQueues() (*answer, error) {
	p, err := c.page()
	if err != nil {
		return nil, err
	}
	return c.feed("Queues", p, shownAll(c.namespace.Queues(p.skip, p.top), func(q atom.Queue) atom.Entry {
		return c.listed(c.queueEntry(q, q.Path), "", "../")
	})), nil
}

// listOthers answers with an empty list.
func (c *call) listOthers() (*answer, error) {
	p, err := c.page()
	if err != nil {
		return nil, err
	}
	return c.feed(c.target.list, p, nil), nil
}

func (c *call) listTopics() (*answer, error) {
	p, err := c.page()
	if err != nil {
		return nil, err
	}
	return c.feed("Topics", p, shownAll(c.namespace.Topics(p.skip, p.top), func(t atom.Topic) atom.Entry {
		return c.listed(c.topicEntry(t, t.Path), "", "../")
	})), nil
}
