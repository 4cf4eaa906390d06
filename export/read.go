package export

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"minibus/config"
	"minibus/emulator"
	"minibus/internal/entitypath"
	"minibus/internal/printable"
	"minibus/internal/sas"
	"minibus/mgmt/atom"
)

const (
	pageSize = 100     // the service's own
	parallel = 4       // requests at once: more are answered with 429
	maxItems = 250_000 // entities and rules in all; Azure has at most 10,000 queues and topics
)

// Options say how to reach a namespace.
type Options struct {
	CAFile    string // PEM file of an authority to trust besides the system's; with an emulator it also means TLS
	Namespace string // of a Minibus with several; empty: the one that the connection string means
	// Token returns what the header Authorization has for a sign-in; nil: the connection string has a key.
	Token func(context.Context) (string, error)
}

// Read reads all entities that the connection string gives access to: those of the namespace, or the one that it
// names as EntityPath. It stops when ctx ends. Errors name the host and what to do, never a key.
func Read(ctx context.Context, c sas.Connection, o Options) (*Namespace, error) {
	client, err := newClient(c, o)
	if err != nil {
		return nil, err
	}
	defer client.http.CloseIdleConnections()
	if o.Namespace != "" {
		if client, err = client.choose(ctx, o.Namespace); err != nil {
			return nil, err
		}
	}
	return client.namespace(ctx)
}

// namespace reads the entities that the connection string gives access to.
func (c *client) namespace(ctx context.Context) (*Namespace, error) {
	host, path := c.connection.Host(), c.connection.EntityPath
	r := &reader{client: c, found: &Namespace{Name: nameOf(host), Source: host}}
	var err error
	if path == "" || c.namespaceName != "" {
		err = r.itself(ctx)
	}
	switch {
	case err != nil:
	case path != "":
		err = r.one(ctx, path)
	default:
		err = r.all(ctx)
	}
	if err != nil {
		return nil, err
	}
	r.found.sort()
	return r.found, nil
}

// nameOf guesses a namespace's name: Azure's is the first label of its host.
func nameOf(host string) string {
	if name, _, ok := strings.Cut(host, ".servicebus."); ok {
		return name
	}
	return config.DefaultNamespace
}

// reader reads a namespace.
type reader struct {
	client *client
	items  atomic.Int64

	mu    sync.Mutex // guards the warnings while several requests are under way
	found *Namespace
}

func (r *reader) warn(entity, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.found.warn(entity, format, args...)
}

func (r *reader) all(ctx context.Context) error {
	if err := r.list(ctx, "$Resources/queues", r.queue); err != nil {
		return err
	}
	if err := r.list(ctx, "$Resources/topics", r.topic); err != nil {
		return err
	}
	return r.below(ctx, "")
}

// itself reads the name and the tier. Not every emulator has them, but every Minibus with a namespace to choose. If
// that answers with another name, a server on the way changes hosts, or the host is an alias of that one.
func (r *reader) itself(ctx context.Context) error {
	err := r.describe(ctx)
	chosen := r.client.namespaceName
	if err != nil || chosen == "" {
		return err
	}
	if !strings.EqualFold(r.found.Name, chosen) {
		return fmt.Errorf("%s, asked for %s, answers as %s: give the connection string of the namespace without "+
			"--namespace",
			r.client.host, hostOf(chosen), r.found.Name)
	}
	r.found.Source = r.found.Name + " at " + r.found.Source
	return nil
}

func (r *reader) describe(ctx context.Context) error {
	body, err := r.client.get(ctx, "$namespaceinfo", "api-version="+apiVersion)
	var answer *answerError
	if errors.Is(err, ErrRefused) || errors.Is(err, errNotFound) || errors.As(err, &answer) {
		return nil // the lists tell whether the key is good
	}
	if err != nil {
		return err
	}
	p, err := parsePage(body)
	if err != nil {
		return fmt.Errorf("read $namespaceinfo from %s: %w", r.client.host, err)
	}
	for _, e := range p.entries {
		if name := strings.TrimSpace(e.description.Child("Name").Text()); name != "" {
			r.found.Name = printable.Clip(oneLine(name), 50)
		}
		r.found.Premium = e.description.Child("MessagingSKU").Text() == "Premium"
	}
	return nil
}

// one reads a single queue or topic. If the path names a subscription, it reads only that one of the topic.
func (r *reader) one(ctx context.Context, path string) error {
	path, subscription, _ := entitypath.SplitSubscription(strings.Trim(path, "/"))
	if err := atom.CheckPath(path, emulator.ProfileRelaxed); err != nil {
		return fmt.Errorf("EntityPath %q is no name of a queue or topic", printable.Clip(path, 80))
	}
	body, err := r.client.get(ctx, path, "api-version="+apiVersion)
	if err != nil {
		return err
	}
	p, err := parsePage(body)
	if err != nil {
		return fmt.Errorf("read %s from %s: %w", path, r.client.host, err)
	}
	if isNothing(body) || len(p.entries) != 1 {
		return fmt.Errorf("read %s from %s: there is no queue or topic of that name", path, r.client.host)
	}
	e := p.entries[0]
	e.name = strings.ToLower(path) // as the lists have it (DEC-9); this answer has the spelling of the request
	if e.description.Name == "QueueDescription" {
		r.queue(e)
		return nil
	}
	r.topic(e)
	return r.below(ctx, subscription)
}

// below reads the subscriptions of all topics, then the rules of all of them, several at once. If only is not empty,
// it is the name of the one subscription to read.
func (r *reader) below(ctx context.Context, only string) error {
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i := range r.found.Topics {
		t := &r.found.Topics[i]
		group.Go(func() error { return r.subscriptions(inner, t, only) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	group, inner = errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i := range r.found.Topics {
		t := &r.found.Topics[i]
		for j := range t.Subscriptions {
			group.Go(func() error { return r.rules(inner, t.Path, &t.Subscriptions[j]) })
		}
	}
	return group.Wait()
}

// list reads page after page. The last page is empty, or short without a link to another, since services differ in
// the length of their pages. list does not follow the link, which could lead anywhere.
func (r *reader) list(ctx context.Context, path string, take func(entry)) error {
	seen := map[string]bool{}
	for skip := 0; ; {
		body, err := r.client.get(ctx, path, fmt.Sprintf("$skip=%d&$top=%d&api-version=%s", skip, pageSize, apiVersion))
		if errors.Is(err, errNotFound) && !strings.HasPrefix(path, "$") {
			return nil // deleted since it was listed
		}
		if err != nil {
			return err
		}
		p, err := parsePage(body)
		if err != nil {
			return fmt.Errorf("read %s from %s: %w", path, r.client.host, err)
		}
		fresh := 0
		for _, e := range p.entries {
			key := strings.ToLower(e.name)
			if seen[key] {
				continue // entities that come and go shift the pages
			}
			seen[key] = true
			fresh++
			if most := r.client.maxItems; r.items.Add(1) > most {
				return fmt.Errorf("read %s from %s: there are more than %d entities and rules", path,
					r.client.host, most)
			}
			take(e)
		}
		if n := len(p.entries); n == 0 || n < pageSize && !p.more {
			return nil
		}
		if fresh == 0 {
			return fmt.Errorf("read %s from %s: the service sends the same page again and again", path, r.client.host)
		}
		skip += len(p.entries)
	}
}
