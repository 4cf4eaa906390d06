package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"minibus/compat-tests/ledger"
)

// recoveryLimit is how long after a fault the broker may still refuse.
const recoveryLimit = 15 * time.Second

// mustRecover sends messages until one is stored. If the broker does not recover, that is a finding, and a restart
// lets the run go on.
func (s *soak) mustRecover(after string) error {
	began := time.Now()
	var last error
	for n := 0; time.Since(began) < recoveryLimit; n++ {
		if s.gone() {
			return nil
		}
		if last = s.probe(fmt.Sprintf("probe.%d.%d", began.UnixMilli(), n)); last == nil {
			s.report.recovered(time.Since(began))
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	s.find("the broker did not come back within %v after %s: %v", recoveryLimit, after, last)
	return errNotRecovered
}

var errNotRecovered = errors.New("the broker did not come back")

// probe sends a message over a new connection.
func (s *soak) probe(id string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	client, err := s.newClient()
	if err != nil {
		return err
	}
	defer closeClient(client)
	guard := time.AfterFunc(6*time.Second, func() { closeClient(client) })
	defer guard.Stop()
	sender, err := client.NewSender("plain", nil)
	if err != nil {
		return err
	}
	s.book.Sending("plain/"+id, ledger.InQueue)
	if err := sender.SendMessage(ctx, (&feed{}).message(id, 1), nil); err != nil {
		return err
	}
	s.book.Sent("plain/" + id)
	return nil
}
