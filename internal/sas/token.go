package sas

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const scheme = "SharedAccessSignature"

// The reasons for refusing a token. The service has a sub-code for each (management-rest 5.3).
var (
	errMalformed = errors.New("the token is malformed")
	errSignature = errors.New("the token's signature does not match")
	errExpired   = errors.New("the token has expired")
	errAudience  = errors.New("the token is for another resource")
)

// Token is a parsed shared access signature.
type Token struct {
	RawResource string    // sr exactly as in the token: encoders differ, and this text was signed
	Resource    string    // sr decoded
	KeyName     string    // skn decoded
	Expires     time.Time // se

	signature []byte
	rawExpiry string
}

// Sign makes a token for a resource such as sb://localhost/orders.
func Sign(resource, keyName, key string, expires time.Time) string {
	sr, se := url.QueryEscape(resource), strconv.FormatInt(expires.Unix(), 10)
	sig := base64.StdEncoding.EncodeToString(mac(key, sr, se))
	return scheme + " sr=" + sr + "&sig=" + url.QueryEscape(sig) + "&se=" + se + "&skn=" + url.QueryEscape(keyName)
}

func mac(key, rawResource, rawExpiry string) []byte {
	h := hmac.New(sha256.New, []byte(key))
	h.Write([]byte(rawResource + "\n" + rawExpiry))
	return h.Sum(nil)
}

// latest is the last second of the year 9999. Later expiries are cut to it, so that computing with them can't overflow.
const latest = 253_402_300_799

// maxToken bounds the length of a token, in bytes. The longest valid ones sign the whole address of
// a request.
const maxToken = 8 << 10

// ParseToken parses a token. Its fields may come in any order. A duplicate field makes it malformed: we must check
// the same field that was signed.
func ParseToken(s string) (Token, error) {
	if len(s) > maxToken {
		return Token{}, errMalformed
	}
	word, rest, ok := strings.Cut(strings.TrimSpace(s), " ")
	if !ok || !strings.EqualFold(word, scheme) {
		return Token{}, errMalformed
	}
	var t Token
	seen := make(map[string]bool, 4)
	for field := range strings.SplitSeq(strings.TrimSpace(rest), "&") {
		name, value, _ := strings.Cut(field, "=")
		name = strings.ToLower(name)
		if seen[name] {
			return Token{}, errMalformed
		}
		seen[name] = true
		if err := t.set(name, value); err != nil {
			return Token{}, err
		}
	}
	if t.RawResource == "" || len(t.signature) == 0 || t.rawExpiry == "" || t.KeyName == "" {
		return Token{}, errMalformed
	}
	return t, nil
}

func (t *Token) set(name, value string) error {
	// A plus sign in a signature stands for itself, so it is unescaped like a path. In the other fields it is a space.
	unescape := url.QueryUnescape
	if name == "sig" {
		unescape = url.PathUnescape
	}
	text, err := unescape(value)
	if err != nil {
		return errMalformed
	}
	switch name {
	case "sr":
		t.RawResource, t.Resource = value, text
	case "skn":
		t.KeyName = text
	case "sig":
		if t.signature, err = base64.StdEncoding.DecodeString(text); err != nil {
			return errMalformed
		}
	case "se":
		seconds, err := strconv.ParseInt(text, 10, 64)
		if err != nil || seconds < 0 {
			return errMalformed
		}
		t.rawExpiry, t.Expires = text, time.Unix(min(seconds, latest), 0)
	}
	return nil
}

// SignedBy reports whether a key made the signature; an empty key made none. Its time does not depend on the key. What
// a token is good for, [Ring.Verify] says.
func (t Token) SignedBy(key string) bool {
	return subtle.ConstantTimeCompare(t.signature, mac(key, t.RawResource, t.rawExpiry)) == 1 && key != ""
}

// Host returns the host of the token's resource, with a port if that has one; "" without a resource that names one.
func (t Token) Host() string {
	host, _, _ := splitResource(t.Resource)
	return host
}

// Covers checks that the token is for a path such as orders/$management. Hosts, ports and schemes are not compared,
// and a resource covers what lies below it. A resource without a host covers nothing.
func (t Token) Covers(path string) error {
	if covered, ok := resourcePath(t.Resource); ok && within(clean(path), covered) {
		return nil
	}
	return errAudience
}
