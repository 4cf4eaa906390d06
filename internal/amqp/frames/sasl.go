package frames

import "minibus/internal/amqp"

// SASLMechanisms is the server's offer [AMQP 5.3.3.1], always an array on the wire.
type SASLMechanisms struct {
	Mechanisms []amqp.Symbol
}

// SASLInit is the client's choice [AMQP 5.3.3.2]. InitialResponse may hold a secret; nil is null.
type SASLInit struct {
	Mechanism       amqp.Symbol
	InitialResponse []byte
	Hostname        string
}

// SASLChallenge asks for more [AMQP 5.3.3.3].
type SASLChallenge struct {
	Challenge []byte
}

// SASLResponse answers a challenge [AMQP 5.3.3.4].
type SASLResponse struct {
	Response []byte
}

// SASLOutcome ends the SASL layer [AMQP 5.3.3.5].
type SASLOutcome struct {
	Code           uint8 // 0 ok, 1 auth, 2 sys, 3 sys-perm, 4 sys-temp
	AdditionalData []byte
}

// Name implements [Performative].
func (*SASLMechanisms) Name() string { return "sasl-mechanisms" }

// Name implements [Performative].
func (*SASLInit) Name() string { return "sasl-init" }

// Name implements [Performative].
func (*SASLChallenge) Name() string { return "sasl-challenge" }

// Name implements [Performative].
func (*SASLResponse) Name() string { return "sasl-response" }

// Name implements [Performative].
func (*SASLOutcome) Name() string { return "sasl-outcome" }

// AppendTo implements [Performative].
func (s *SASLMechanisms) AppendTo(dst []byte) []byte { return appendComposite(dst, codeMechanisms, s) }

// AppendTo implements [Performative].
func (s *SASLInit) AppendTo(dst []byte) []byte { return appendComposite(dst, codeInit, s) }

// AppendTo implements [Performative].
func (s *SASLChallenge) AppendTo(dst []byte) []byte { return appendComposite(dst, codeChallenge, s) }

// AppendTo implements [Performative].
func (s *SASLResponse) AppendTo(dst []byte) []byte { return appendComposite(dst, codeResponse, s) }

// AppendTo implements [Performative].
func (s *SASLOutcome) AppendTo(dst []byte) []byte { return appendComposite(dst, codeOutcome, s) }

func (s *SASLMechanisms) fields(c *codec) {
	c.mustSymbols("mechanisms", &s.Mechanisms)
}

func (s *SASLInit) fields(c *codec) {
	hasHostname := s.Hostname != ""
	c.symbol("mechanism", &s.Mechanism, nil)
	if c.mode == tracing {
		c.line.show("initial-response-bytes", len(s.InitialResponse))
	} else {
		c.binary("initial-response", &s.InitialResponse)
	}
	c.text("hostname", &s.Hostname, &hasHostname)
}

func (s *SASLChallenge) fields(c *codec) { c.secret("challenge", &s.Challenge) }

func (s *SASLResponse) fields(c *codec) { c.secret("response", &s.Response) }

// secret is a mandatory binary, of which a trace shows only the size.
func (c *codec) secret(name string, v *[]byte) {
	if c.mode == tracing {
		c.line.show(name+"-bytes", len(*v))
	} else {
		c.mustBinary(name, v)
	}
}

func (s *SASLOutcome) fields(c *codec) {
	c.uint8("code", &s.Code, nil)
	c.binary("", &s.AdditionalData)
}
