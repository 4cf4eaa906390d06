package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"

	"minibus/compat-tests/ledger"
)

var errNoCounts = errors.New("the broker shows no counts")

// counts holds the message counts that an entity shows.
type counts struct{ active, scheduled, dead, total int64 }

func sessionOf(key string) string {
	_, id, _ := strings.Cut(key, "/")
	session, _, _ := strings.Cut(id, ".")
	return session
}

// auditCounts compares the counts of the administration with the messages found.
func (a *audit) auditCounts(when string) error {
	client, done, err := a.administration()
	if err != nil {
		return err
	}
	defer done()
	want := make(map[string]*counts)
	for _, seen := range a.found {
		for _, s := range seen {
			c := want[s.entity]
			if c == nil {
				c = new(counts)
				want[s.entity] = c
			}
			c.add(s.where)
		}
	}
	for _, e := range entities {
		got, err := e.counts(a.ctx, client)
		if err != nil {
			return fmt.Errorf("counts of %s: %w", e.name, err)
		}
		expected := counts{}
		if c := want[e.name]; c != nil {
			expected = *c
		}
		if got != expected {
			a.find("%s: %s shows %+v, want %+v", when, e.name, got, expected)
		}
	}
	return nil
}

// add counts a message. Deferred ones count as active too (CNT-3).
func (c *counts) add(where ledger.Place) {
	c.total++
	switch where {
	case ledger.AsScheduled:
		c.scheduled++
	case ledger.InDeadLetters:
		c.dead++
	default:
		c.active++
	}
}

// counts asks for the counts of an entity.
func (e entity) counts(ctx context.Context, client *admin.Client) (counts, error) {
	if e.topic != "" {
		p, err := client.GetSubscriptionRuntimeProperties(ctx, e.topic, e.name, nil)
		if err != nil || p == nil {
			return counts{}, errors.Join(err, errNoCounts)
		}
		return counts{int64(p.ActiveMessageCount), 0, int64(p.DeadLetterMessageCount), p.TotalMessageCount}, nil
	}
	p, err := client.GetQueueRuntimeProperties(ctx, e.name, nil)
	if err != nil || p == nil {
		return counts{}, errors.Join(err, errNoCounts)
	}
	return counts{int64(p.ActiveMessageCount), int64(p.ScheduledMessageCount), int64(p.DeadLetterMessageCount), p.TotalMessageCount}, nil
}
