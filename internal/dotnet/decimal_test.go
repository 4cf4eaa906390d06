package dotnet

import (
	"encoding/hex"
	"strings"
	"testing"
)

func bytes16(t *testing.T, text string) (b [16]byte) {
	t.Helper()
	raw, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil || len(raw) != len(b) {
		t.Fatalf("%s: %v", text, err)
	}
	copy(b[:], raw)
	return b
}

// TestDecimalsOfDotNet are frames of Azure.Messaging.ServiceBus 7.21.0, as they came over the wire.
func TestDecimalsOfDotNet(t *testing.T) {
	for want, sent := range map[string]string{
		"12.4":              "0c 3e 00 00 00 00 00 00 00 00 00 00 00 00 00 7c",
		"12.5":              "0c 3e 00 00 00 00 00 00 00 00 00 00 00 00 00 7d",
		"20":                "0c 40 00 00 00 00 00 00 00 00 00 00 00 00 00 14",
		"20.01":             "0c 3c 00 00 00 00 00 00 00 00 00 00 00 00 07 d1",
		"-25":               "8c 40 00 00 00 00 00 00 00 00 00 00 00 00 00 19",
		"1.25":              "0c 3c 00 00 00 00 00 00 00 00 00 00 00 00 00 7d",
		"-0.000001":         "8c 34 00 00 00 00 00 00 00 00 00 00 00 00 00 01",
		"79228162514264.33": "0c 3c 00 00 00 00 00 00 00 1c 25 c2 68 49 76 81",
	} {
		b := bytes16(t, sent)
		if got, ok := DecimalText(b); !ok || got != want {
			t.Errorf("%s is %q, want %s", sent, got, want)
		}
		if back, ok := ParseDecimal(want); !ok || back != b {
			t.Errorf("%s is encoded as %x, want %s", want, back, sent)
		}
	}
}

// TestDecimalsOfIEEE754 has the encoding of the standard: an exponent of 14 bits with a bias of 6176, and a binary integer.
func TestDecimalsOfIEEE754(t *testing.T) {
	for sent, want := range map[string]string{
		"30 40 00 00 00 00 00 00 00 00 00 00 00 00 00 05": "5",
		"b0 3e 00 00 00 00 00 00 00 00 00 00 00 00 00 19": "-2.5",
		"30 44 00 00 00 00 00 00 00 00 00 00 00 00 00 01": "100",
		"30 3c 00 00 00 00 00 00 00 00 00 00 00 00 04 e2": "12.50",
		"00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00": "0",
		"30 41 ed 09 be ad 87 c0 37 8d 8e 63 ff ff ff ff": "9999999999999999999999999999999999", // the largest coefficient
		"78 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00": "",                                   // infinity
		"7c 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00": "",                                   // NaN
		"5f ff ed 09 be ad 87 c0 37 8d 8e 63 ff ff ff ff": "",                                   // the largest number
		"00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01": "",                                   // the smallest
		"0c 3e 00 01 00 00 00 00 00 00 00 00 00 00 00 01": "",                                   // more than .NET's 96 bits, so a tiny number of the standard
	} {
		if got, ok := DecimalText(bytes16(t, sent)); ok != (want != "") || got != want {
			t.Errorf("%s is %q, %v, want %q", sent, got, ok, want)
		}
	}
}

func TestTextsOfDecimals(t *testing.T) {
	for text, want := range map[string]string{
		"12.50": "12.50", "+7": "7", ".5": "0.5", "5.": "5", "-0": "-0", "-0.00": "-0.00", "007": "7",
		"79228162514264337593543950335":   "79228162514264337593543950335",
		"-7.9228162514264337593543950335": "-7.9228162514264337593543950335",
		"0.0000000000000000000000000001":  "0.0000000000000000000000000001",
	} {
		b, ok := ParseDecimal(text)
		if got, read := DecimalText(b); !ok || !read || got != want {
			t.Errorf("%s comes back as %q", text, got)
		}
	}
	for _, text := range []string{"", "-", ".", "x", "1e5", "1/2", "--1", "-+1", "1.2.3", "1 ", "79228162514264337593543950336",
		"0.00000000000000000000000000001", strings.Repeat("1", 1000)} {
		if b, ok := ParseDecimal(text); ok {
			t.Errorf("%q is encoded as %x", text, b)
		}
	}
}
