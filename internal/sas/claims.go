package sas

// Claims is what a shared access policy allows, as a set.
type Claims uint8

// The rights of a policy (management-rest section 8). Manage implies the other two.
const (
	Listen Claims = 1 << iota // receive, settle, peek, session state
	Send                      // send, schedule, cancel
	Manage                    // create, change and delete entities
)

// Allows reports whether c has every right of need.
func (c Claims) Allows(need Claims) bool {
	if c&Manage != 0 {
		c |= Send | Listen
	}
	return c&need == need
}

// String is the service's word for a single right.
func (c Claims) String() string {
	switch c {
	case Listen:
		return "Listen"
	case Send:
		return "Send"
	case Manage:
		return "Manage"
	}
	return "Listen,Send"
}
