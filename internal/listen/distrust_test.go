package listen

import (
	"bytes"
	"crypto/tls"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"minibus/internal/loglimit"
)

// TestMuxWarnsOfClientsThatDoNotTrustTheCertificate: some send an alert, others just close after the handshake.
func TestMuxWarnsOfClientsThatDoNotTrustTheCertificate(t *testing.T) {
	closes := func(c *tls.Conn) error { return c.Close() }
	for name, tt := range map[string]struct {
		config *tls.Config
		then   func(*tls.Conn) error
		warns  bool
	}{
		"alert, TLS 1.2":    {&tls.Config{ServerName: "localhost", MaxVersion: tls.VersionTLS12}, nil, true},
		"alert, TLS 1.3":    {&tls.Config{ServerName: "localhost"}, nil, true},
		"without a word":    {&tls.Config{ServerName: "localhost", InsecureSkipVerify: true}, closes, true},
		"no common version": {&tls.Config{ServerName: "localhost", MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}, nil, false},
		"says nonsense": {&tls.Config{ServerName: "localhost", InsecureSkipVerify: true}, func(c *tls.Conn) error {
			_, err := c.Write([]byte("nonsense"))
			return err
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				_, p := serve(t, Options{
					TLS: &tls.Config{Certificates: []tls.Certificate{certificate(t)}}, Logger: slog.New(slog.NewTextHandler(&log, nil)),
					Fix: "run minibus cert",
				})
				client := tls.Client(dial(t, p), tt.config)
				if err := client.Handshake(); (err == nil) != (tt.then != nil) {
					t.Fatal(err)
				}
				if tt.then != nil {
					if err := tt.then(client); err != nil {
						t.Fatal(err)
					}
				}
				synctest.Wait()
				warned := strings.Contains(log.String(), "level=WARN") && strings.Contains(log.String(), `fix="run minibus cert"`) &&
					strings.Contains(log.String(), "name=localhost") && strings.Contains(log.String(), "remote=")
				if warned != tt.warns {
					t.Errorf("the log has: %s", &log)
				}
			})
		})
	}
}

// TestMuxDoesNotWarnOfProbes, which connect and close before a handshake, nor of connections that a stop cuts.
func TestMuxDoesNotWarnOfProbes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		m, p := serve(t, Options{
			TLS: &tls.Config{Certificates: []tls.Certificate{certificate(t)}}, Logger: slog.New(slog.NewTextHandler(&log, nil)), Fix: "x",
		})
		_ = dial(t, p).Close()
		half := dial(t, p)
		send(t, half, "\x16\x03\x01")
		_ = half.Close()
		idle := tls.Client(dial(t, p), &tls.Config{InsecureSkipVerify: true})
		if err := idle.Handshake(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		_ = m.Close()
		_, _ = io.Copy(io.Discard, idle)
		if log.Len() > 0 {
			t.Errorf("the log has: %s", &log)
		}
	})
}

// TestMuxBoundsItsLines about clients that do not trust the certificate, and about silent ones.
func TestMuxBoundsItsLines(t *testing.T) {
	const n = 2*loglimit.PerSecond + 1
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&log, nil))
		refusals := loglimit.New(logger)
		_, p := serve(t, Options{
			TLS: &tls.Config{Certificates: []tls.Certificate{certificate(t)}}, Logger: logger, Refusals: refusals, MaxPending: 1,
		})
		for range n {
			if err := tls.Client(dial(t, p), &tls.Config{ServerName: "localhost"}).Handshake(); err == nil {
				t.Fatal("the certificate is trusted")
			}
			synctest.Wait()
		}
		for range n + 1 { // the first drops none
			dial(t, p)
			synctest.Wait()
		}
		refusals.Close()
		for text, want := range map[string]int{
			"does not trust the TLS certificate": loglimit.PerSecond, "kind=certificate leftOut=11": 1,
			"had not shown its protocol": loglimit.PerSecond, "kind=silent leftOut=11": 1,
		} {
			if lines := strings.Count(log.String(), text); lines != want {
				t.Errorf("%d times %q, want %d:\n%s", lines, text, want, &log)
			}
		}
	})
}
