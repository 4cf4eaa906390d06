package sas

import (
	"fmt"
	"time"
)

// Reason says why a token is refused.
type Reason uint8

// The reasons. The service has a sub-code for each (management-rest 5.3).
const (
	Missing      Reason = iota + 1 // there is no token
	Malformed                      // it can't be read, or is of a kind that we can't check
	UnknownKey                     // no policy of the resource has its key name; told as BadSignature
	BadSignature                   // neither key of the policy made it
	Expired                        // its expiry has passed
	Audience                       // it is for another resource, or its policy is
	Issuer                         // a web token of an issuer that is not trusted
	KeysOff                        // a signature, and the namespace takes web tokens only (disableLocalAuth)
)

// String names the reason in logs.
func (r Reason) String() string {
	switch r {
	case Missing:
		return "missing"
	case Malformed:
		return "malformed"
	case UnknownKey:
		return "unknown key name"
	case BadSignature:
		return "bad signature"
	case Expired:
		return "expired"
	case Audience:
		return "wrong audience"
	case Issuer:
		return "unknown issuer"
	case KeysOff:
		return "keys are off"
	}
	return "unknown"
}

// TokenError says why a token does not open a resource.
type TokenError struct {
	Reason  Reason
	KeyName string    // as the token says, of a web token whose it is; empty if it could not be read
	Expires time.Time // of an expired token
	Text    string    // what the client gets, if the reason does not say it all
}

// Error returns the service's text (ERR-2). It does not distinguish an unknown key name from a wrong key.
func (r *TokenError) Error() string {
	if r.Text != "" {
		return r.Text
	}
	switch r.Reason {
	case Missing:
		return "MissingToken: The authorization header was not found."
	case Malformed:
		return "MalformedToken: The token is not a shared access signature that can be read."
	case Expired:
		return fmt.Sprintf("ExpiredToken: The token is expired. Expiration time: '%s'.",
			r.Expires.UTC().Format("2006-01-02 15:04:05Z"))
	case Audience:
		return "InvalidAudience: The authorization header contains a token with a wrong audience."
	case Issuer:
		return "InvalidIssuer: Token issuer is invalid. Minibus takes the tokens of its own issuer (minibus env " +
			"--identity) and of --entra-issuer."
	case KeysOff:
		return "LocalAuthDisabled: Authorization failed because SAS authentication has been disabled for the " +
			"namespace."
	}
	return "InvalidSignature: The token has an invalid signature."
}

// Is matches the package's plain errors.
func (r *TokenError) Is(target error) bool {
	switch target {
	case errMalformed:
		return r.Reason == Malformed
	case errSignature:
		return r.Reason == BadSignature || r.Reason == UnknownKey
	case errExpired:
		return r.Reason == Expired
	case errAudience:
		return r.Reason == Audience
	}
	return false
}
