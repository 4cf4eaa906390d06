package main

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// heavy is work that a light client is measured beside.
type heavy struct {
	name      string
	elsewhere bool               // in a namespace other than the light client's
	prepare   func(*stage) error // nil: nothing
	work      func(*stage) error
}

// largest is the size of a body that, with its headers, takes 100 MiB.
const largest = "104856576"

var heavies = []heavy{
	{name: "nothing", work: (*stage).pause},
	{name: "small messages, 200 in flight each way", work: sustained("both", "-level", "-target", "deep", "-inflight", "200")},
	{name: "messages of 1 MiB, 20 in flight each way",
		work: sustained("both", "-level", "-target", "large", "-inflight", "20", "-size", "1047552")},
	{name: "ten messages of 100 MiB are sent at once", work: hundreds("send")},
	{name: "ten messages of 100 MiB are received at once", prepare: hundreds("send"), work: hundreds("receive")},
	{name: "1,000 sends in flight to 100 subscriptions with actions",
		work: sustained("send", "-target", "fan", "-inflight", "1000")},
	{name: "ten readers of the control API", prepare: fill("deep"), work: readers10},
	{name: "a job purges the messages", prepare: fill("deep"),
		work: asks("POST", "jobs?wait=60s", `{"kind": "purge", "entity": "deep"}`)},
	{name: "the messages expire at one instant", prepare: frozen("short"), work: thawed},
	{name: "the messages are dead-lettered at one instant", prepare: frozen("dead"), work: thawed},
	{name: "scheduled messages fall due at one instant", prepare: frozen("deep", "-delay", "2s"), work: thawed},
	{name: "a queue is deleted", prepare: fill("deep"), work: asks("DELETE", "entities/deep", "")},
	{name: "a queue with bodies of 4 KiB is deleted, and the file shrinks", prepare: fill("deep", "-size", "4096"),
		work: asks("DELETE", "entities/deep", "")},
	{name: "a topic with two copies of each is deleted", prepare: fill("two"), work: asks("DELETE", "entities/two", "")},
	{name: "another namespace is deleted", elsewhere: true, prepare: fill("deep"), work: asks("DELETE", "", "")},
	{name: "a snapshot is saved", prepare: fill("deep"), work: save},
	{name: "a snapshot of another namespace is saved", elsewhere: true, prepare: fill("deep"), work: save},
	{name: "a snapshot of another namespace is restored", elsewhere: true, prepare: both(fill("deep"), save),
		work: asks("POST", "snapshots/saved/restore", "")},
	{name: "a snapshot is deleted", prepare: both(fill("deep"), save), work: asks("DELETE", "snapshots/saved", "")},
}

var save = asks("POST", "snapshots", `{"name": "saved"}`)

// pause takes as long as work that has no end.
func (s *stage) pause() error {
	time.Sleep(s.lasts)
	return nil
}

// sustained is load in a mode for as long as work without an end lasts.
func sustained(mode string, args ...string) func(*stage) error {
	return func(s *stage) error {
		return s.load(append([]string{"-mode", mode, "-duration", s.lasts.String()}, args...)...)
	}
}

// hundreds sends or receives ten messages of 100 MiB at once.
func hundreds(mode string) func(*stage) error {
	return func(s *stage) error {
		return s.load("-mode", mode, "-target", "large", "-inflight", "10", "-connections", "10", "-count", "10", "-size", largest)
	}
}

// fill sends the messages that something is to happen to.
func fill(entity string, args ...string) func(*stage) error {
	return func(s *stage) error {
		return s.load(append([]string{"-mode", "send", "-target", entity, "-count", strconv.Itoa(s.deep)}, args...)...)
	}
}

// frozen fills a queue while the clock stands, so that all that is sent has one instant.
func frozen(entity string, args ...string) func(*stage) error {
	return both(asks("POST", "clock/freeze", ""), fill(entity, args...))
}

// thawed lets the clock go on, over the instant.
func thawed(s *stage) error {
	if err := s.ask("POST", "clock/resume", ""); err != nil {
		return err
	}
	return s.pause()
}

// readers10 looks at a queue through the control API.
func readers10(s *stage) error {
	return s.load("-mode", "idle", "-target", "deep", "-duration", s.lasts.String(), "-readers", s.web())
}

func both(first, second func(*stage) error) func(*stage) error {
	return func(s *stage) error {
		if err := first(s); err != nil {
			return err
		}
		return second(s)
	}
}

// web returns the address of HTTP.
func (s *stage) web() string { return "http://127.0.0.1:" + strconv.Itoa(s.server.Ports.HTTP) }

func asks(method, path, body string) func(*stage) error {
	return func(s *stage) error { return s.ask(method, path, body) }
}

// ask sends a request to the control API of the namespace, and waits for the answer.
func (s *stage) ask(method, path, body string) error {
	address := strings.TrimSuffix(s.web()+"/$minibus/v1/namespaces/"+s.space+"/"+path, "/")
	q, err := http.NewRequest(method, address, strings.NewReader(body))
	if err != nil {
		return err
	}
	if body != "" {
		q.Header.Set("Content-Type", "application/json")
	}
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("%s %s: %s\n%s", method, path, answer.Status, text)
	}
	return nil
}
