package amqpserver

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
)

// Protocol headers [AMQP 2.2, 5.3.2].
var (
	headerAMQP = []byte{'A', 'M', 'Q', 'P', 0, 1, 0, 0}
	headerSASL = []byte{'A', 'M', 'Q', 'P', 3, 1, 0, 0}
)

// mechanisms lists what the service offers, in its order; .NET insists on MSSBCBS, all others use ANONYMOUS
// (amqp-data-plane 1.2). Only PLAIN proves an identity, and only where tokens are checked; with the others, tokens
// decide what the client may do.
var mechanisms = []amqp.Symbol{"MSSBCBS", mechanismPlain, "ANONYMOUS", "EXTERNAL"}

const mechanismPlain amqp.Symbol = "PLAIN"

// Outcome codes of SASL [AMQP 5.3.3.6].
const (
	saslOK   = 0
	saslAuth = 1
)

var (
	errProtocolHeader = errors.New("unknown protocol header")
	errSASL           = errors.New("sasl negotiation failed")
)

// handshake exchanges the protocol headers, with or without the SASL layer, up to the peer's open. It runs on the
// connection's own goroutine before the others exist, under the read deadline set at accept. We always speak second:
// one client hangs if it gets our header before it has sent its own.
func (c *conn) handshake() error {
	header, err := c.reader.f.raw(len(headerAMQP))
	if err != nil {
		return fmt.Errorf("read protocol header: %w", err)
	}
	switch {
	case bytes.Equal(header, headerAMQP):
		return c.writeHeader(headerAMQP)
	case !bytes.Equal(header, headerSASL):
		return c.refuseHeader(header)
	}
	if err := c.negotiateSASL(); err != nil {
		return err
	}
	header, err = c.reader.f.raw(len(headerAMQP))
	if err != nil {
		return fmt.Errorf("read protocol header: %w", err)
	}
	if !bytes.Equal(header, headerAMQP) {
		return c.refuseHeader(header)
	}
	return c.writeHeader(headerAMQP)
}

// refuseHeader answers an unknown header with one that we support; then the caller closes the socket
// [AMQP 2.2].
func (c *conn) refuseHeader(got []byte) error {
	ours := headerAMQP
	if got[4] == headerSASL[4] {
		ours = headerSASL
	}
	err := fmt.Errorf("read protocol header %x: %w", got, errProtocolHeader)
	return errors.Join(err, c.writeHeader(ours))
}

func (c *conn) writeHeader(header []byte) error {
	c.trace.header(traceOut, header)
	if _, err := c.out.writeAll(header); err != nil {
		return fmt.Errorf("write protocol header: %w", err)
	}
	return nil
}

// negotiateSASL offers the mechanisms and takes any of them. The frames may already be
// there: some clients do not wait for the offer.
func (c *conn) negotiateSASL() error {
	if err := c.writeHeader(headerSASL); err != nil {
		return err
	}
	if err := c.writeSASL(&frames.SASLMechanisms{Mechanisms: mechanisms}); err != nil {
		return err
	}
	header, body, err := c.reader.f.next()
	if err != nil {
		return fmt.Errorf("read sasl-init: %w", err)
	}
	p, _, err := frames.DecodeBody(body)
	if err != nil {
		return fmt.Errorf("read sasl-init: %w", err)
	}
	init, ok := p.(*frames.SASLInit)
	if !ok || header.Type != frames.TypeSASL {
		return fmt.Errorf("expect sasl-init: %w", errSASL)
	}
	c.trace.frame(traceIn, 0, init, 0)
	c.host = init.Hostname[:min(len(init.Hostname), maxHostname)]
	if !slices.Contains(mechanisms, init.Mechanism) {
		err := fmt.Errorf("negotiate mechanism %.40q: %w", string(init.Mechanism), errSASL)
		return errors.Join(err, c.writeSASL(&frames.SASLOutcome{Code: saslAuth}))
	}
	if init.Mechanism == mechanismPlain && !c.tokens.takeKey(init.InitialResponse) {
		err := fmt.Errorf("check user name and password: %w", errSASL)
		return errors.Join(err, c.writeSASL(&frames.SASLOutcome{Code: saslAuth}))
	}
	return c.writeSASL(&frames.SASLOutcome{Code: saslOK})
}

func (c *conn) writeSASL(p frames.Performative) error {
	c.trace.frame(traceOut, 0, p, 0)
	if _, err := c.out.writeAll(frames.AppendSASLFrame(nil, p)); err != nil {
		return fmt.Errorf("write %s: %w", p.Name(), err)
	}
	return nil
}
