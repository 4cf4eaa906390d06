package main

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// fault is a way to break things while the load works.
type fault struct {
	name     string
	ends     bool                // the process ends, and the soak starts it again
	possible func(s *soak) error // returns why this machine can't do it; nil: it always can
	do       func(s *soak) error
}

// faults returns the table of all faults.
func faults() []fault {
	return []fault{
		{name: "kill", ends: true, do: func(s *soak) error { s.kill(); return nil }},
		{name: "term", ends: true, do: func(s *soak) error { s.terminate(); return nil }},
		{name: "drop", do: dropConnections},
		{name: "freeze", possible: onLinux, do: freeze},
		{name: "disk", possible: func(s *soak) error { return s.hasSmallDisk() }, do: fillDisk},
		{name: "write", possible: onLinux, do: failWrites},
		{name: "files", possible: onLinux, do: failOpens},
		{name: "clock", possible: (*soak).hasClock, do: stepClock},
	}
}

func faultNames() (names []string) {
	for _, f := range faults() {
		names = append(names, f.name)
	}
	return names
}

// chosenFaults returns the wanted faults that are possible here. A fault asked for by name must be possible.
func (s *soak) chosenFaults() (list []fault, err error) {
	for _, f := range faults() {
		if !s.wants(f.name) {
			continue
		}
		if f.possible != nil {
			if err := f.possible(s); err != nil {
				if s.only != nil {
					return nil, fmt.Errorf("fault %s: %w", f.name, err)
				}
				s.say("without the fault %s: %v", f.name, err)
				continue
			}
		}
		list = append(list, f)
	}
	return list, nil
}

func (s *soak) hasSmallDisk() error {
	if s.disk == nil {
		return fmt.Errorf("a small disk can be mounted by root on Linux only")
	}
	return nil
}

// dropConnections resets about half of all connections.
func dropConnections(s *soak) error {
	s.breakConnections(0.5)
	return nil
}

// breakConnections resets connections, and gives up clients that do not notice.
func (s *soak) breakConnections(probability float64) {
	s.trouble.breaking(true)
	s.report.Dropped += s.proxy.breakSome(probability)
	s.trouble.breaking(true)
	if l, now := s.load, time.Now(); l != nil {
		time.Sleep(settling / 2)
		l.letGo(now)
	}
}

// troubleTime returns how long to keep up a lasting fault.
func (s *soak) troubleTime() time.Duration {
	return time.Second + time.Duration(s.random.Int64N(int64(3*time.Second)))
}

// waitForErrors waits until operations fail, or until it is clear that none will.
func (s *soak) waitForErrors() {
	before := s.tally.errors.Load()
	for began := time.Now(); s.tally.errors.Load() == before && time.Since(began) < operationLimit/2; {
		time.Sleep(50 * time.Millisecond)
	}
}

// freeze stops the process and lets it go on, like a machine that sleeps.
func freeze(s *soak) error {
	defer s.trouble.begin()()
	if err := s.signal(stopSignal); err != nil {
		return err
	}
	time.Sleep(s.troubleTime())
	return s.signal(continueSignal)
}

// fillDisk fills the disk. Once there is room again the broker must work, without a restart.
func fillDisk(s *soak) error {
	end := s.trouble.begin()
	err := s.disk.fill()
	s.waitForErrors() // the write-ahead log has some room at first
	time.Sleep(s.troubleTime())
	s.disk.free()
	s.unsaved = time.Now()
	end()
	if err != nil {
		return err
	}
	return s.mustRecover("the disk was full")
}

// failWrites makes every write of the broker to a file fail.
func failWrites(s *soak) error {
	end := s.trouble.begin()
	err := s.limitFileSize(true)
	time.Sleep(s.troubleTime())
	if again := s.limitFileSize(false); err == nil {
		err = again
	}
	s.unsaved = time.Now()
	end()
	if err != nil {
		return err
	}
	return s.mustRecover("writes failed")
}

// failOpens keeps the broker from opening files and connections.
func failOpens(s *soak) error {
	end := s.trouble.begin()
	err := s.limitOpenFiles(true)
	s.breakConnections(0.3) // so that clients connect again
	time.Sleep(s.troubleTime())
	if again := s.limitOpenFiles(false); err == nil {
		err = again
	}
	end()
	s.trouble.breaking(true)
	if err != nil {
		return err
	}
	return s.mustRecover("no file could be opened")
}

// hasClock fails for a broker without a clock that can be set: the signal would end it.
func (s *soak) hasClock() error {
	if s.only == nil && !s.built {
		return errors.New("the broker that was given may be built without the tag clocksteps")
	}
	return onLinux(s)
}

// mostOff bounds how far the broker's clock is set from the machine's. Twice that is less than the window of the queue
// that detects duplicates.
const mostOff = 8 * time.Second

// stepClock sets the broker's clock forward or back. By the client's clock, locks may then end early or last longer.
func stepClock(s *soak) error {
	end := s.trouble.begin()
	err := s.setClock(time.Duration(s.random.Int64N(int64(2*mostOff))) - mostOff)
	time.Sleep(s.troubleTime()) // the broker notices a step forward within a second
	end()
	if err != nil {
		return err
	}
	return s.mustRecover("the clock was set")
}

// setClock sets the broker's clock off the machine's by off.
func (s *soak) setClock(off time.Duration) error {
	s.clockSet = true
	if err := os.WriteFile(s.clockFile(), []byte(off.String()), 0o600); err != nil {
		return fmt.Errorf("set the broker's clock: %w", err)
	}
	return s.signal(clockSignal)
}

// advanceClock sets the broker's clock, if it was ever set, as far forward as it goes. Before a checkpoint everything
// that was to happen soon has to happen, however late the clock was.
func (s *soak) advanceClock() error {
	if !s.clockSet {
		return nil
	}
	return s.setClock(mostOff)
}
