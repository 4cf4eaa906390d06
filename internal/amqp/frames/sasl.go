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
func (s *SASLMechanisms) AppendTo(dst []byte) []byte {
	dst, m := begin(dst, codeMechanisms)
	return amqp.EndList(amqp.AppendSymbolArray(dst, s.Mechanisms), m, 1)
}

// AppendTo implements [Performative].
func (s *SASLInit) AppendTo(dst []byte) []byte {
	dst, m := begin(dst, codeInit)
	dst = amqp.AppendSymbol(dst, s.Mechanism)
	dst = appendBinary(dst, s.InitialResponse)
	dst = appendString(dst, s.Hostname, s.Hostname != "")
	return amqp.EndList(dst, m, 3)
}

// AppendTo implements [Performative].
func (s *SASLChallenge) AppendTo(dst []byte) []byte {
	dst, m := begin(dst, codeChallenge)
	return amqp.EndList(amqp.AppendBinary(dst, s.Challenge), m, 1)
}

// AppendTo implements [Performative].
func (s *SASLResponse) AppendTo(dst []byte) []byte {
	dst, m := begin(dst, codeResponse)
	return amqp.EndList(amqp.AppendBinary(dst, s.Response), m, 1)
}

// AppendTo implements [Performative].
func (s *SASLOutcome) AppendTo(dst []byte) []byte {
	dst, m := begin(dst, codeOutcome)
	dst = amqp.AppendUbyte(dst, s.Code)
	dst = appendBinary(dst, s.AdditionalData)
	return amqp.EndList(dst, m, 2)
}

func (s *SASLMechanisms) decode(f *fields) error {
	s.Mechanisms = f.symbols()
	f.must(s.Mechanisms != nil, "sasl-server-mechanisms")
	return f.done()
}

func (s *SASLInit) decode(f *fields) error {
	var ok bool
	s.Mechanism, ok = f.symbol()
	f.must(ok, "mechanism")
	s.InitialResponse = f.bytes()
	s.Hostname, _ = f.text()
	return f.done()
}

func (s *SASLChallenge) decode(f *fields) error {
	s.Challenge = f.bytes()
	f.must(s.Challenge != nil, "challenge")
	return f.done()
}

func (s *SASLResponse) decode(f *fields) error {
	s.Response = f.bytes()
	f.must(s.Response != nil, "response")
	return f.done()
}

func (s *SASLOutcome) decode(f *fields) error {
	var ok bool
	s.Code, ok = f.uint8()
	f.must(ok, "code")
	s.AdditionalData = f.bytes()
	return f.done()
}
