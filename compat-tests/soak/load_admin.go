package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"
)

// madePrefix begins the names of queues that the administration load makes.
const madePrefix = "made."

// entityBook notes which queues clients have made: an answered operation must hold, an unanswered one is not in it.
type entityBook struct {
	mu    sync.Mutex
	there map[string]bool
}

func (b *entityBook) set(name string, there bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.there[name] = there
}

func (b *entityBook) doubt(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.there, name)
}

// administration makes a client that trusts the broker's authority.
func (s *soak) administration() (*admin.Client, func(), error) {
	pem, err := os.ReadFile(filepath.Join(filepath.Dir(s.data), "minibus-ca.pem"))
	if err != nil {
		return nil, nil, fmt.Errorf("read the authority's certificate: %w", err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true}
	text := fmt.Sprintf("Endpoint=sb://localhost:%d;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE", s.proxy.port())
	client, err := admin.NewClientFromConnectionString(text, &admin.ClientOptions{ClientOptions: azcore.ClientOptions{
		Transport: &http.Client{Transport: transport}, Retry: policy.RetryOptions{MaxRetries: -1},
	}})
	return client, transport.CloseIdleConnections, err
}

// administer makes, changes and deletes queues and topics.
func (w *worker) administer() error {
	client, done, err := w.administration()
	if err != nil {
		return err
	}
	defer done()
	for !w.over() {
		name := madePrefix + w.id()
		err := w.change(name, true, func(ctx context.Context) error {
			_, err := client.CreateQueue(ctx, name, nil)
			return err
		})
		if err != nil {
			return err
		}
		if err := w.sendAndDelete(client, name); err != nil {
			return err
		}
		time.Sleep(200 * time.Millisecond)
	}
	return nil
}

// change makes or deletes an entity.
func (w *worker) change(name string, there bool, operation func(context.Context) error) error {
	w.entities.doubt(name)
	if err := w.try(operation); err != nil {
		return err
	}
	w.entities.set(name, there)
	return nil
}

// sendAndDelete sends a message to a queue and deletes the queue with it.
func (w *worker) sendAndDelete(client *admin.Client, name string) error {
	sender, err := w.client.NewSender(name, nil)
	if err != nil {
		return err
	}
	f := &feed{to: name}
	if err := w.try(func(ctx context.Context) error { return sender.SendMessage(ctx, f.message(w.id(), 1), nil) }); err != nil {
		return err
	}
	closing, done := context.WithTimeout(w.l.ctx, closeWait)
	defer done()
	_ = sender.Close(closing)
	return w.change(name, false, func(ctx context.Context) error {
		_, err := client.DeleteQueue(ctx, name, nil)
		return err
	})
}

// auditEntities checks that every queue that was made is there and none that was deleted. Then it deletes all of them.
func (s *soak) auditEntities(ctx context.Context) error {
	client, done, err := s.administration()
	if err != nil {
		return err
	}
	defer done()
	listed := make(map[string]bool)
	for pager := client.NewListQueuesPager(nil); pager.More(); {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("list queues: %w", err)
		}
		for _, q := range page.Queues {
			listed[q.QueueName] = true
		}
	}
	s.entities.mu.Lock()
	defer s.entities.mu.Unlock()
	for name, there := range s.entities.there {
		if listed[name] != there {
			s.find("queue %s: there is %v, want %v", name, listed[name], there)
		}
	}
	clear(s.entities.there)
	for name := range listed {
		if !strings.HasPrefix(name, madePrefix) {
			continue
		}
		if _, err := client.DeleteQueue(ctx, name, nil); err != nil {
			return fmt.Errorf("delete queue %s: %w", name, err)
		}
	}
	return nil
}
