package amqp_test

import (
	"encoding/hex"
	"strings"
	"testing"
)

// unhex turns hex with blanks for the eye into bytes.
func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatalf("bad hex in test: %v", err)
	}
	return b
}
