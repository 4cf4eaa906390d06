package emulator

import "encoding/hex"

// ReceiveMode says whether a delivered message is locked or removed.
type ReceiveMode uint8

// The receive modes.
const (
	PeekLock         ReceiveMode = iota // LOCK-1
	ReceiveAndDelete                    // RAD-1
)

// Outcome says how a client settles a locked message (LOCK-12).
type Outcome uint8

// The outcomes.
const (
	Complete Outcome = iota // remove it
	Abandon                 // unlock it, delivery count plus one (DC-2)
	// set it aside, to be fetched by its number (DEF-1), delivery count plus one (DC-4)
	Defer
	DeadLetterOutcome // move it to the dead-letter queue
	Release           // unlock it, delivery count unchanged (LOCK-13)
)

// Properties that dead-lettering sets (DLQ-8).
const (
	DeadLetterReason           = "DeadLetterReason"
	DeadLetterErrorDescription = "DeadLetterErrorDescription"
)

// Settlement is an outcome with the application properties that it changes, as an encoded map (LOCK-14); Complete
// and Release ignore them. For a dead-lettering they include the reason and its description, where given.
type Settlement struct {
	Outcome    Outcome
	Properties []byte

	// Forgotten says, in a transaction, that the client has settled the delivery already and can't settle it again. If
	// the transaction comes to nothing, the delivery has failed: its lock ends at once and the delivery counts (JMS-5).
	Forgotten bool
}

// LockToken identifies one delivery of a message (LOCK-3), in RFC 4122 byte order.
type LockToken [16]byte

// String returns the usual text form of a UUID.
func (t LockToken) String() string {
	var b [36]byte
	hex.Encode(b[0:8], t[0:4])
	hex.Encode(b[9:13], t[4:6])
	hex.Encode(b[14:18], t[6:8])
	hex.Encode(b[19:23], t[8:10])
	hex.Encode(b[24:36], t[10:16])
	for _, dash := range [...]int{8, 13, 18, 23} {
		b[dash] = '-'
	}
	return string(b[:])
}
