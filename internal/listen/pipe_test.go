package listen

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

func TestPipeCarriesMoreThanItsBuffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := PipeConns(pipeBuffer)
		sent := bytes.Repeat([]byte("0123456789abcdef"), 3*pipeBuffer/16)
		go func() {
			_, _ = a.Write(sent)
			_ = a.Close()
		}()
		synctest.Wait() // the writer waits for room
		got, err := io.ReadAll(b)
		if err != nil || !bytes.Equal(got, sent) {
			t.Errorf("read %d bytes, %v; want %d", len(got), err, len(sent))
		}
	})
}

func TestPipeDeadlinesFollowTheBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := PipeConns(pipeBuffer)
		start := time.Now()
		_ = a.SetReadDeadline(start.Add(time.Minute))
		if _, err := a.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) != time.Minute {
			t.Errorf("read: %v after %v", err, time.Since(start))
		}
		_ = a.SetReadDeadline(time.Time{})
		_, _ = b.Write([]byte("x"))
		expect(t, a, "x")
		_ = a.SetWriteDeadline(time.Now().Add(time.Second))
		n, err := a.Write(make([]byte, pipeBuffer+1))
		if n != pipeBuffer || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("write: %d, %v", n, err)
		}
		_ = a.Close()
		_ = b.Close()
	})
}

func TestPipeCloseWakesEverybody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := PipeConns(pipeBuffer)
		_, _ = b.Write([]byte("x"))
		errs := make(chan error, 2)
		go func() { _, err := b.Read(make([]byte, 1)); errs <- err }()
		go func() { _, err := b.Write(make([]byte, pipeBuffer)); errs <- err }() // one byte more than there is room for
		synctest.Wait()
		_ = a.Close()
		for range 2 {
			if err := <-errs; err == nil {
				t.Error("woke without an error")
			}
		}
		if _, err := a.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
			t.Errorf("write after close: %v", err)
		}
		if _, err := b.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("write to the closed: %v", err)
		}
	})
}

func TestPipeDialEndsWithItsContextAndWithTheListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPipe()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if _, err := p.Dial(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("dial: %v", err)
		}
		_ = p.Close()
		if _, err := p.Dial(context.Background()); !errors.Is(err, net.ErrClosed) {
			t.Errorf("dial after close: %v", err)
		}
		if _, err := p.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("accept after close: %v", err)
		}
	})
}
