package main

import (
	"errors"
	"fmt"
	"io"
	"time"
)

const (
	progressEvery   = 30 * time.Second
	longestStretch  = 3 * time.Minute // between checkpoints
	shortestStretch = 6 * time.Second
	checkpointEvery = 25 // rounds
)

// run does a whole run.
func run(o options, out io.Writer) (report, error) {
	s, err := newSoak(o, out)
	if err != nil {
		return report{}, err
	}
	s.say("seed %d, %s", s.seed, s.dir)
	list, err := s.chosenFaults()
	if err == nil {
		err = s.start()
	}
	if err == nil {
		err = s.subscribe()
	}
	if err == nil {
		err = s.direct(list)
	}
	if s.load != nil { // the database must stay as it is
		s.load.stopping.Store(true)
		err = errors.Join(err, s.server.KillNow())
		s.stopLoad(true)
	}
	return s.finish(err)
}

// direct runs until the time is up or enough is found. The run ends with a checkpoint and a graceful stop.
func (s *soak) direct(list []fault) error {
	var err error
	if s.rounds > 0 {
		err = s.runRounds(list)
	} else {
		err = s.runStretches(list)
	}
	if err != nil {
		s.gone() // the reason, perhaps
	}
	if err != nil || s.enough() {
		return err
	}
	s.terminate()
	return nil
}

// runStretches works and breaks things between checkpoints. Every other stretch leaves the process alive, so that its
// memory at rest can be compared with that at the checkpoint before.
func (s *soak) runStretches(list []fault) error {
	until := s.began.Add(s.duration)
	stretch := min(max(s.duration/5, shortestStretch), longestStretch)
	for n := 0; time.Now().Before(until) && !s.enough(); n++ {
		chosen := list
		if n%2 == 1 {
			chosen = nil
			for _, f := range list {
				if !f.ends {
					chosen = append(chosen, f)
				}
			}
		}
		end := time.Now().Add(stretch)
		if end.After(until) {
			end = until
		}
		if err := s.stretch(chosen, end); err != nil || s.enough() {
			return err
		}
		s.stopLoad(false)
		if s.gone() {
			return nil
		}
		if err := s.checkpoint(); err != nil {
			return err
		}
	}
	return nil
}

// stretch works until a time, and breaks something every few seconds.
func (s *soak) stretch(list []fault, until time.Time) error {
	s.startLoad()
	for n := s.random.IntN(100); time.Now().Before(until) && !s.enough(); n++ {
		s.work(until, 1500*time.Millisecond+time.Duration(s.random.Int64N(int64(4*time.Second))))
		if s.gone() {
			return nil
		}
		if len(list) == 0 || !time.Now().Before(until) {
			continue
		}
		if err := s.breakSomething(list[n%len(list)]); err != nil {
			return err
		}
	}
	return nil
}

// work lets the load work for a while.
func (s *soak) work(until time.Time, while time.Duration) {
	end := time.Now().Add(while)
	if end.After(until) {
		end = until
	}
	for time.Now().Before(end) && !s.enough() {
		time.Sleep(min(100*time.Millisecond, time.Until(end)))
		s.progressIfDue()
	}
}

// breakSomething applies a fault. If that ended the process, it starts the process again and compares everything with
// the ledger before the load goes on.
func (s *soak) breakSomething(f fault) error {
	s.report.fault(f.name)
	err := f.do(s)
	if errors.Is(err, errNotRecovered) && !s.enough() {
		s.kill()
		return s.nextLife("after a restart because it did not come back")
	}
	if err != nil && !errors.Is(err, errNotRecovered) {
		return fmt.Errorf("fault %s: %w", f.name, err)
	}
	if f.ends {
		return s.nextLife("after " + f.name)
	}
	return nil
}

// nextLife starts the broker again and compares its messages with the ledger. Then the load goes on.
func (s *soak) nextLife(when string) error {
	s.stopLoad(true)
	if err := s.start(); err != nil {
		return err
	}
	if err := s.lookAround(fmt.Sprintf("life %d, %s", s.life, when)); err != nil {
		return err
	}
	s.startLoad()
	return nil
}

func (s *soak) stopLoad(gone bool) {
	if s.load != nil {
		s.load.stop(gone)
		s.load = nil
	}
	if gone {
		s.closeKept()
	}
}

// runRounds runs many short lives, ended by kill -9 and SIGTERM in turn, with the other faults asked for by name in
// between.
func (s *soak) runRounds(list []fault) error {
	var ends, others []fault
	for _, f := range list {
		if f.ends {
			ends = append(ends, f)
		} else if s.only != nil {
			others = append(others, f)
		}
	}
	if len(ends) == 0 {
		return errors.New("rounds need the fault kill or term")
	}
	s.startLoad()
	for n := range s.rounds {
		s.report.Rounds = n + 1
		s.work(time.Now().Add(time.Hour), 1300*time.Millisecond+time.Duration(s.random.Int64N(int64(1500*time.Millisecond))))
		if s.gone() || s.enough() {
			return nil
		}
		if len(others) > 0 {
			if err := s.breakSomething(others[n%len(others)]); err != nil || s.enough() {
				return err
			}
		}
		if err := s.breakSomething(ends[n%len(ends)]); err != nil || s.enough() {
			return err
		}
		if n%checkpointEvery == checkpointEvery-1 || n == s.rounds-1 {
			s.stopLoad(false)
			if err := s.checkpoint(); err != nil || s.enough() {
				return err
			}
			if n < s.rounds-1 {
				s.startLoad()
			}
		}
	}
	return nil
}
