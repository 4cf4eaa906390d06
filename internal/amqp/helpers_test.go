package amqp_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"minibus/internal/amqp"
)

// unhex decodes hex with spaces.
func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatalf("bad hex in test: %v", err)
	}
	return b
}

// skip returns the bytes after the first value.
func skip(b []byte) (rest []byte, err error) {
	r := amqp.NewReader(b)
	err = r.Skip()
	return r.Rest(), err
}
