package main

import (
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
)

// startTopic starts senders to the topic and a receiver for each subscription.
func (s *soak) startTopic(l *load) {
	for _, together := range []int{1, 4} {
		f := &feed{to: topicName, together: together, adorn: numbered, keys: copies}
		l.goWork("event", func(w *worker) error { return w.send(f) })
	}
	for name := range takers {
		open := func(c *azservicebus.Client) (*azservicebus.Receiver, error) {
			return c.NewReceiverForSubscription(topicName, name, nil)
		}
		l.goWork("subscriber", func(w *worker) error { return w.settleAll(open, &eating{entity: name, book: name}) })
	}
}

// numbered gives a message the properties that the filters test.
func numbered(m *azservicebus.Message, n int) {
	m.ApplicationProperties = map[string]any{"n": int64(n), "third": "no"}
	if takers["third"](n) {
		m.ApplicationProperties["third"] = "yes"
	}
}

// copies returns the ledger's names of a message's copies, one for each subscription that wants it.
func copies(id string, n int) (keys []string) {
	for name, wants := range takers {
		if wants(n) {
			keys = append(keys, name+"/"+id)
		}
	}
	return keys
}
