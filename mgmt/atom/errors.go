package atom

import "fmt"

// badRequest is the sub-code of wrong values.
const badRequest = 40000

// MoreInfo ends the service's newer texts. Clients match the words before it.
const MoreInfo = "To know more visit https://aka.ms/sbResourceMgrExceptions. "

// Error says what is wrong with a description, in the service's words where they are known. The HTTP status is 400.
type Error struct {
	SubCode   int    // 0: the text has none, as in texts about subscriptions and rules
	Text      string // ends in ". " unless Parameter is set
	Parameter string // element concerned, or ""
	Actual    string // its value, as error texts show it
}

// Error returns the Detail of the error document, without the tail that mgmt adds.
func (e *Error) Error() string {
	s := e.Text
	if e.SubCode != 0 {
		// The period must follow the digits: a client finds the sub-code by it.
		s = fmt.Sprintf("SubCode=%d. %s", e.SubCode, s)
	}
	if e.Parameter != "" {
		s += "\r\nParameter name: " + e.Parameter
		if e.Actual != "" {
			s += "\r\nActual value was " + e.Actual
		}
		s += ". "
	}
	return s
}
