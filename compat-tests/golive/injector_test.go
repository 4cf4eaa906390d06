package golive

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"strings"
	"time"

	"minibus/internal/amqp/frames"
)

// delayTransfers is the first argument of the program that replaces the SDK's fault injector, which is this test's own
// binary: the tests start it by the path in AMQP_FAULT_INJECTOR_PATH, control it by flags, and kill it.
const delayTransfers = "transfer_delay"

// injector is a proxy for AMQP over TLS. On each link it lets some messages pass and then, once, holds everything from
// the broker for a while.
type injector struct {
	host  string // host:port of the broker
	after int    // messages that pass
	delay time.Duration
}

// runInjector serves until it is killed.
func runInjector(args []string) error {
	var in injector
	options := flag.NewFlagSet(delayTransfers, flag.ContinueOnError)
	options.IntVar(&in.after, "after", 0, "messages of a link that pass at once")
	options.DurationVar(&in.delay, "delay", 0, "how long the next one is held")
	options.StringVar(&in.host, "host", "", "broker")
	addressFile := options.String("address-file", "", "file for the address on which it listens")
	options.String("cert", "", "ignored: the tests trust anybody here")
	options.String("logs", "", "ignored")
	if err := options.Parse(args); err != nil {
		return fmt.Errorf("read flags: %w", err)
	}
	certificate, err := selfSigned()
	if err != nil {
		return err
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{certificate}})
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	if err := os.WriteFile(*addressFile, []byte(listener.Addr().String()), 0o600); err != nil {
		return fmt.Errorf("write address: %w", err)
	}
	for {
		client, err := listener.Accept()
		if err != nil {
			return fmt.Errorf("accept: %w", err)
		}
		go in.relay(client)
	}
}

// relay connects a client to the broker.
func (in *injector) relay(client net.Conn) {
	defer func() { _ = client.Close() }()
	server, err := tls.Dial("tcp", in.host, nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, "connect to the broker:", err)
		return
	}
	defer func() { _ = server.Close() }()
	go func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	}()
	if err := in.pump(client, server); err != nil {
		fmt.Fprintln(os.Stderr, "relay:", err)
	}
}

// link is one end of a link, by the broker's channel and handle.
type link struct {
	channel uint16
	handle  uint32
}

// pump copies what the broker sends, frame by frame.
func (in *injector) pump(client io.Writer, server io.Reader) error {
	passed := make(map[link]int) // by link; only links that carry messages of an entity
	for {
		frame, err := nextFrame(server)
		if err != nil {
			return err
		}
		if string(frame[:4]) != "AMQP" {
			if err := in.hold(frame, passed); err != nil {
				return err
			}
		}
		if _, err := client.Write(frame); err != nil {
			return fmt.Errorf("write frame: %w", err)
		}
	}
}

// hold waits if the frame is the first message after those that pass.
func (in *injector) hold(frame []byte, passed map[link]int) error {
	header, err := frames.ParseHeader(frame)
	if err != nil {
		return fmt.Errorf("read header: %w", err)
	}
	if header.Type != frames.TypeAMQP || len(frame) == frames.HeaderSize {
		return nil
	}
	body, _, err := frames.DecodeBody(frame[frames.HeaderSize:])
	if err != nil {
		return fmt.Errorf("read frame: %w", err)
	}
	switch f := body.(type) {
	case *frames.Attach:
		if f.Role == frames.RoleSender && f.Source != nil && !strings.Contains(f.Source.Address, "$") {
			passed[link{header.Channel, f.Handle}] = 0
		}
	case *frames.Transfer:
		at := link{header.Channel, f.Handle}
		n, counts := passed[at]
		if !counts {
			return nil // a reply of $cbs or $management
		}
		if n == in.after {
			time.Sleep(in.delay)
		}
		passed[at] = n + 1
	}
	return nil
}

// nextFrame reads a protocol header or a frame [AMQP 2.2, 2.3].
func nextFrame(r io.Reader) ([]byte, error) {
	frame := make([]byte, frames.HeaderSize)
	if _, err := io.ReadFull(r, frame); err != nil {
		return nil, fmt.Errorf("read frame: %w", err)
	}
	if string(frame[:4]) == "AMQP" {
		return frame, nil
	}
	rest := make([]byte, max(int(binary.BigEndian.Uint32(frame)), frames.HeaderSize)-frames.HeaderSize)
	if _, err := io.ReadFull(r, rest); err != nil {
		return nil, fmt.Errorf("read frame: %w", err)
	}
	return append(frame, rest...), nil
}

// selfSigned makes a certificate that needs no trust.
func selfSigned() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make a key: %w", err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("sign a certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}
