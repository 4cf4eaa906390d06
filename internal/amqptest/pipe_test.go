package amqptest

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

func TestPipe_CarriesBytesBothWays(t *testing.T) {
	a, b := Pipe()
	want := bytes.Repeat([]byte("0123456789"), 100_000) // more than the pipe holds
	for _, ends := range [][2]io.ReadWriteCloser{{a, b}, {b, a}} {
		go func() { _, _ = ends[0].Write(want) }()
		got := make([]byte, len(want))
		if _, err := io.ReadFull(ends[1], got); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("got %d bytes, %v", len(got), err)
		}
	}
}

func TestPipe_CloseLetsTheOtherEndFinishReading(t *testing.T) {
	a, b := Pipe()
	_, _ = a.Write([]byte("last words"))
	_ = a.Close()
	if got, err := io.ReadAll(b); string(got) != "last words" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
	if _, err := b.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("write to a closed pipe: %v", err)
	}
	if _, err := a.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("read from a closed end: %v", err)
	}
}

func TestPipe_Deadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := Pipe()
		start := time.Now()
		_ = a.SetReadDeadline(start.Add(time.Minute))
		if _, err := a.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) != time.Minute {
			t.Errorf("read: %v after %v", err, time.Since(start))
		}
		_ = a.SetWriteDeadline(time.Now().Add(time.Minute))
		n, err := a.Write(make([]byte, 2*pipeCapacity))
		if n != pipeCapacity || !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) != 2*time.Minute {
			t.Errorf("write: %d, %v after %v", n, err, time.Since(start))
		}
		_ = a.SetDeadline(time.Time{})
		_, _ = b.Write([]byte("x"))
		if n, err := a.Read(make([]byte, 1)); n != 1 || err != nil {
			t.Errorf("read after the deadline was lifted: %d, %v", n, err)
		}
		_, _ = a.Close(), b.Close()
	})
}
