package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

const (
	stopSignal     = unix.SIGSTOP
	continueSignal = unix.SIGCONT
	clockSignal    = unix.SIGUSR1 // of a broker built with the tag clocksteps

	smallDiskSize = "size=256m"
)

func onLinux(*soak) error { return nil }

func (s *soak) signal(signal unix.Signal) error {
	if err := unix.Kill(s.server.Pid(), signal); err != nil {
		return fmt.Errorf("signal the broker: %w", err)
	}
	return nil
}

// limitFileSize makes every write to a file fail: it sets the limit on a file's size to one byte, and Go ignores the
// signal that the kernel sends.
func (s *soak) limitFileSize(on bool) error { return s.limit(unix.RLIMIT_FSIZE, on, 1) }

// limitOpenFiles leaves the process no file descriptor to open.
func (s *soak) limitOpenFiles(on bool) error { return s.limit(unix.RLIMIT_NOFILE, on, 3) }

// limit lowers the soft limit of a resource, or raises it to the hard one.
func (s *soak) limit(resource int, on bool, low uint64) error {
	var now unix.Rlimit
	if err := unix.Prlimit(s.server.Pid(), resource, nil, &now); err != nil {
		return fmt.Errorf("read a limit of the broker: %w", err)
	}
	now.Cur = now.Max
	if on {
		now.Cur = low
	}
	if err := unix.Prlimit(s.server.Pid(), resource, &now, nil); err != nil {
		return fmt.Errorf("set a limit of the broker: %w", err)
	}
	return nil
}

// smallDisk is a file system in memory that can be filled.
type smallDisk struct{ dir string }

func diskPossible() bool { return os.Geteuid() == 0 }

func mountSmallDisk(dir string) (*smallDisk, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the small disk: %w", err)
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, smallDiskSize); err != nil {
		return nil, fmt.Errorf("mount the small disk: %w", err)
	}
	return &smallDisk{dir}, nil
}

func (d *smallDisk) ballast() string { return filepath.Join(d.dir, "ballast") }

// fill writes until the disk is full to the last byte.
func (d *smallDisk) fill() error {
	f, err := os.Create(d.ballast())
	if err != nil {
		return fmt.Errorf("fill the disk: %w", err)
	}
	defer f.Close()
	for size := 1 << 20; size > 0; {
		_, err := f.Write(make([]byte, size))
		if errors.Is(err, unix.ENOSPC) {
			size /= 2
		} else if err != nil {
			return fmt.Errorf("fill the disk: %w", err)
		}
	}
	return nil
}

func (d *smallDisk) free() { _ = os.Remove(d.ballast()) }

// unmount removes the disk, after it has copied its files to the directory keep, if that is set.
func (d *smallDisk) unmount(keep string) error {
	if keep != "" {
		d.free()
		if err := copyDir(keep, d.dir); err != nil {
			return err
		}
	}
	if err := unix.Unmount(d.dir, unix.MNT_DETACH); err != nil {
		return fmt.Errorf("unmount the small disk: %w", err)
	}
	return os.Remove(d.dir)
}

func copyDir(to, from string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return fmt.Errorf("keep the database: %w", err)
	}
	for _, entry := range entries {
		if err := copyFile(filepath.Join(to, entry.Name()), filepath.Join(from, entry.Name())); err != nil {
			return fmt.Errorf("keep the database: %w", err)
		}
	}
	return nil
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
