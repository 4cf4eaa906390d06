package frames

import "minibus/internal/amqp"

// Descriptor codes [AMQP 2.7, 2.8, 3.4, 3.5, 4.5, 5.3.3].
const (
	codeOpen        = 0x10
	codeBegin       = 0x11
	codeAttach      = 0x12
	codeFlow        = 0x13
	codeTransfer    = 0x14
	codeDisposition = 0x15
	codeDetach      = 0x16
	codeEnd         = 0x17
	codeClose       = 0x18
	codeError       = 0x1d

	codeReceived = 0x23
	codeAccepted = 0x24
	codeRejected = 0x25
	codeReleased = 0x26
	codeModified = 0x27
	codeSource   = 0x28
	codeTarget   = 0x29

	codeCoordinator        = 0x30
	codeDeclare            = 0x31
	codeDischarge          = 0x32
	codeDeclared           = 0x33
	codeTransactionalState = 0x34

	codeMechanisms = 0x40
	codeInit       = 0x41
	codeChallenge  = 0x42
	codeResponse   = 0x43
	codeOutcome    = 0x44

	codeAMQPValue = 0x77 // the message section around declare and discharge
)

// unknownCode stands for a descriptor that this package does not know.
const unknownCode = ^uint64(0)

// descriptor reads a descriptor, translating the symbolic form.
func descriptor(r *amqp.Reader) (uint64, error) {
	code, name, err := r.Descriptor()
	if name != nil && err == nil {
		code = codeOf(name)
	}
	return code, err
}

// codeOf returns the code of a symbolic descriptor. The conversions in the switches do not allocate.
func codeOf(name []byte) uint64 {
	switch string(name) {
	case "amqp:open:list":
		return codeOpen
	case "amqp:begin:list":
		return codeBegin
	case "amqp:attach:list":
		return codeAttach
	case "amqp:flow:list":
		return codeFlow
	case "amqp:transfer:list":
		return codeTransfer
	case "amqp:disposition:list":
		return codeDisposition
	case "amqp:detach:list":
		return codeDetach
	case "amqp:end:list":
		return codeEnd
	case "amqp:close:list":
		return codeClose
	case "amqp:error:list":
		return codeError
	}
	return codeOfNested(name)
}

func codeOfNested(name []byte) uint64 {
	switch string(name) {
	case "amqp:received:list":
		return codeReceived
	case "amqp:accepted:list":
		return codeAccepted
	case "amqp:rejected:list":
		return codeRejected
	case "amqp:released:list":
		return codeReleased
	case "amqp:modified:list":
		return codeModified
	case "amqp:source:list":
		return codeSource
	case "amqp:target:list":
		return codeTarget
	case "amqp:coordinator:list":
		return codeCoordinator
	case "amqp:declare:list":
		return codeDeclare
	case "amqp:discharge:list":
		return codeDischarge
	case "amqp:declared:list":
		return codeDeclared
	case "amqp:transactional-state:list":
		return codeTransactionalState
	case "amqp:amqp-value:*":
		return codeAMQPValue
	}
	return codeOfSASL(name)
}

func codeOfSASL(name []byte) uint64 {
	switch string(name) {
	case "amqp:sasl-mechanisms:list":
		return codeMechanisms
	case "amqp:sasl-init:list":
		return codeInit
	case "amqp:sasl-challenge:list":
		return codeChallenge
	case "amqp:sasl-response:list":
		return codeResponse
	case "amqp:sasl-outcome:list":
		return codeOutcome
	}
	return unknownCode
}
