package compat

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"minibus/compat-tests/harness"
)

// entityBook records the entities that clients made: an answered operation must hold, an unanswered one may have happened
// or not.
type entityBook struct {
	mu      sync.Mutex
	entries map[string]entityState
}

type entityState uint8

const (
	entityUnsure entityState = iota
	entityThere
	entityGone
)

func (b *entityBook) set(name string, s entityState) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.entries[name] = s
}

const (
	descriptionHead = `<entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml">`
	descriptionTail = `</content></entry>`
	serviceSpace    = ` xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"`
)

// adminClient sends plain requests: a client of an SDK would wait for its retries when the server is killed.
type adminClient struct {
	base string
	http http.Client
}

// do returns the status, 0 if there was no answer.
func (c *adminClient) do(method, path, body string) (status int, answer string) {
	req, err := http.NewRequest(method, c.base+path, strings.NewReader(body))
	if err != nil {
		return 0, ""
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, ""
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, ""
	}
	return resp.StatusCode, string(b)
}

func newAdminClient(s *harness.Server) *adminClient {
	return &adminClient{base: fmt.Sprintf("http://localhost:%d", s.Ports.HTTP)}
}

// TestDEC21_Kill9KeepsEntitiesThatWereAnswered creates and deletes queues, topics with subscriptions and rules from several
// clients and kills the server in the middle, twenty times on one database: what was answered holds.
func TestDEC21_Kill9KeepsEntitiesThatWereAnswered(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	t.Parallel()
	o := harness.Options{Config: harness.WriteConfig(t, harness.Queue{Name: queueName}), Data: filepath.Join(t.TempDir(), "minibus.db")}
	book := &entityBook{entries: map[string]entityState{}}
	for round := range crashRoundsWanted(t) {
		server := harness.Start(t, o)
		var answers atomic.Int64
		target, reached, stopped := int64(20+rand.IntN(200)), make(chan struct{}), make(chan struct{})
		var once sync.Once
		var workers sync.WaitGroup
		for w := range 4 {
			workers.Go(func() {
				c := newAdminClient(server)
				for i := 0; ; i++ {
					select {
					case <-stopped:
						return
					default:
					}
					n := work(t, c, book, fmt.Sprintf("r%d-w%d-%d", round, w, i))
					if answers.Add(n) >= target {
						once.Do(func() { close(reached) })
					}
				}
			})
		}
		<-reached
		server.Kill(t)
		close(stopped)
		workers.Wait()
		server = harness.Start(t, o)
		checkEntities(t, newAdminClient(server), book)
		server.Stop(t)
		if t.Failed() {
			t.Fatalf("round %d, killed after %d answers", round, answers.Load())
		}
	}
}

// work makes a queue and a topic with a subscription and a rule, and deletes every third set again. It returns the number of
// answered requests.
func work(t *testing.T, c *adminClient, book *entityBook, name string) (answered int64) {
	put := func(path, description string) {
		book.set(path, entityUnsure)
		switch status, answer := c.do(http.MethodPut, path, descriptionHead+description+descriptionTail); status {
		case 0:
		case http.StatusCreated:
			book.set(path, entityThere)
			answered++
		default:
			t.Errorf("PUT %s: status %d: %s", path, status, answer)
		}
	}
	put("/q-"+name, "<QueueDescription"+serviceSpace+"/>")
	put("/t-"+name, "<TopicDescription"+serviceSpace+"/>")
	put("/t-"+name+"/Subscriptions/s", "<SubscriptionDescription"+serviceSpace+"/>")
	put("/t-"+name+"/Subscriptions/s/Rules/r", "<RuleDescription"+serviceSpace+`><Filter i:type="SqlFilter" xmlns:i="http://www.w3.org/2001/XMLSchema-instance">`+
		"<SqlExpression>a = 1</SqlExpression></Filter></RuleDescription>")
	if rand.IntN(3) != 0 {
		return answered
	}
	path := "/q-" + name
	book.set(path, entityUnsure)
	if status, _ := c.do(http.MethodDelete, path, ""); status == http.StatusOK {
		book.set(path, entityGone)
		answered++
	}
	return answered
}

// checkEntities compares the entities with the answers, and settles all doubt for the next round.
func checkEntities(t *testing.T, c *adminClient, book *entityBook) {
	t.Helper()
	for path, state := range book.entries {
		status, answer := c.do(http.MethodGet, path+"?api-version=2021-05", "")
		there := status == http.StatusOK && strings.Contains(answer, "Description")
		switch {
		case state == entityThere && !there:
			t.Errorf("%s was created and is not there: status %d: %s", path, status, answer)
		case state == entityGone && there:
			t.Errorf("%s was deleted and is there", path)
		case state == entityUnsure && there:
			book.entries[path] = entityThere
		case state == entityUnsure:
			delete(book.entries, path) // a name is used once
		}
		if rand.IntN(8) != 0 {
			delete(book.entries, path) // entities that stay are checked again after the next crash
		}
	}
}
