package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"

	"minibus/compat-tests/harness"
)

// cleaning is how long the removal may take. It does not end with an interrupt.
const cleaning = 3 * time.Minute

// namespace is the one that is asked.
type namespace struct {
	there  harness.Elsewhere
	parsed harness.Connection
	admin  *admin.Client
	tier   string
	domain string
}

// open asks the namespace for its tier, which needs the right to manage.
func open(ctx context.Context, there harness.Elsewhere) (*namespace, error) {
	parsed, err := harness.ParseConnection(there.Connection)
	if err != nil {
		return nil, err
	}
	if parsed.EntityPath != "" {
		return nil, errors.New("the connection string must have the key of a policy of the namespace, with the right to manage")
	}
	client, err := admin.NewClientFromConnectionString(there.Connection, nil)
	if err != nil {
		return nil, fmt.Errorf("make the administration client: %w", err)
	}
	properties, err := client.GetNamespaceProperties(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("ask for the namespace, which needs the right to manage: %w", err)
	}
	n := &namespace{there: there, parsed: parsed, admin: client, tier: properties.SKU}
	_, n.domain, _ = strings.Cut(parsed.Host, ".")
	if n.domain == "" || !strings.Contains(n.domain, "servicebus.") {
		n.domain = "no domain of Azure"
	}
	return n, nil
}

// hide takes out of a line what would tell whose namespace it was.
func (n *namespace) hide() *strings.Replacer {
	name, _, _ := strings.Cut(n.parsed.Host, ".")
	pairs := []string{n.parsed.Key, "KEY", n.there.Prefix, "", n.parsed.Host, "NAMESPACE"}
	if n.domain != "no domain of Azure" {
		pairs = append(pairs, name, "NAMESPACE")
	}
	return strings.NewReplacer(pairs...)
}

// entities returns the names of all queues and topics.
func (n *namespace) entities(ctx context.Context) (queues, topics []string, err error) {
	for pager := n.admin.NewListQueuesPager(nil); pager.More(); {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, nil, fmt.Errorf("list queues: %w", err)
		}
		for _, q := range page.Queues {
			queues = append(queues, q.QueueName)
		}
	}
	for pager := n.admin.NewListTopicsPager(nil); pager.More(); {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, nil, fmt.Errorf("list topics: %w", err)
		}
		for _, t := range page.Topics {
			topics = append(topics, t.TopicName)
		}
	}
	return queues, topics, nil
}

// clean removes every entity with the prefix.
func (n *namespace) clean() error {
	ctx, cancel := context.WithTimeout(context.Background(), cleaning)
	defer cancel()
	queues, topics, err := n.entities(ctx)
	removed := 0
	for _, name := range queues {
		if strings.HasPrefix(name, n.there.Prefix) {
			_, refused := n.admin.DeleteQueue(ctx, name, nil)
			err, removed = errors.Join(err, refused), removed+1
		}
	}
	for _, name := range topics {
		if strings.HasPrefix(name, n.there.Prefix) {
			_, refused := n.admin.DeleteTopic(ctx, name, nil)
			err, removed = errors.Join(err, refused), removed+1
		}
	}
	if err != nil {
		return fmt.Errorf("remove the entities that begin with %s (later: -remove %[1]s): %[2]w", n.there.Prefix, err)
	}
	fmt.Printf("Removed %d entities.\n", removed)
	return nil
}
