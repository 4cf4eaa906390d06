//go:build !linux

package main

import (
	"errors"
	"syscall"
)

const (
	stopSignal     = syscall.Signal(0)
	continueSignal = syscall.Signal(0)
	clockSignal    = syscall.Signal(0)
)

var errElsewhere = errors.New("it needs Linux")

// onLinux keeps the faults below from being chosen.
func onLinux(*soak) error { return errElsewhere }

func (s *soak) signal(syscall.Signal) error { return errElsewhere }

func (s *soak) limitFileSize(bool) error { return errElsewhere }

func (s *soak) limitOpenFiles(bool) error { return errElsewhere }

type smallDisk struct{ dir string }

func diskPossible() bool { return false }

func mountSmallDisk(string) (*smallDisk, error) { return nil, errElsewhere }

func (d *smallDisk) fill() error { return errElsewhere }

func (d *smallDisk) free() {}

func (d *smallDisk) unmount(string) error { return nil }
