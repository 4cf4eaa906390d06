package sas

import "strings"

// Claims is the set of rights that a shared access policy gives.
type Claims uint8

// The rights of a policy. Manage implies the other two.
const (
	Listen Claims = 1 << iota // receive, settle, peek, session state
	Send                      // send, schedule, cancel
	Manage                    // create, change and delete entities
)

// Allows reports whether c has every right of need. An empty need stands for any right: then it reports whether c
// has one.
func (c Claims) Allows(need Claims) bool {
	if c&Manage != 0 {
		c |= Send | Listen
	}
	if need == 0 {
		return c != 0
	}
	return c&need == need
}

// ParseClaims returns the set of the rights with these names, in any case; it ignores other names.
func ParseClaims(rights []string) Claims {
	var c Claims
	for _, r := range rights {
		for _, known := range []Claims{Listen, Send, Manage} {
			if strings.EqualFold(r, known.String()) {
				c |= known
			}
		}
	}
	return c
}

// String returns the service's word for a single right, and the words of a set separated by commas.
func (c Claims) String() string {
	var words []string
	for _, known := range []struct {
		claim Claims
		word  string
	}{{Manage, "Manage"}, {Send, "Send"}, {Listen, "Listen"}} {
		if c&known.claim != 0 {
			words = append(words, known.word)
		}
	}
	return strings.Join(words, ",")
}

// Required returns the service's text for an operation that a client may not do (ERR-1). need is the right that it
// lacks, empty if the right to send or to receive would do; host is the client's name for the namespace.
func Required(need Claims, host, path string) string {
	right := "'" + need.String() + "'"
	if need == 0 {
		right = "'Send' or 'Listen'"
	}
	return "Unauthorized access. " + right + " claim(s) are required to perform this operation. Resource: 'sb://" +
		host + "/" + strings.ToLower(path) + "'."
}
