package sas

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestConnectionRoundTrip(t *testing.T) {
	const want = "Endpoint=sb://localhost:5673;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true;"
	c := Local("localhost:5673")
	if got := c.String(); got != want {
		t.Errorf("got %s", got)
	}
	back, err := ParseConnection(want)
	if err != nil || back != c {
		t.Errorf("parsed %+v, %v", back, err)
	}
	if back.Host() != "localhost:5673" {
		t.Errorf("host %s", back.Host())
	}
}

func TestParseConnectionTakesWhatIsInTheWild(t *testing.T) {
	tests := []struct {
		in   string
		want Connection
	}{
		{"endpoint=sb://h:1/;sharedaccesskeyname=n;SHAREDACCESSKEY=a=b==", Connection{Endpoint: "sb://h:1", KeyName: "n", Key: "a=b=="}},
		{"Endpoint=sb://h;SharedAccessKeyName=n;SharedAccessKey=k;;EntityPath=t/Subscriptions/s", // Aspire's children
			Connection{Endpoint: "sb://h", KeyName: "n", Key: "k", EntityPath: "t/Subscriptions/s"}},
		{"Endpoint=amqp://h:5/;SharedAccessKeyName=n;SharedAccessKey=k;UseDevelopmentEmulator=TRUE;TransportType=Amqp",
			Connection{Endpoint: "amqp://h:5", KeyName: "n", Key: "k", Emulator: true}},
		{"Endpoint=sb://h;SharedAccessSignature=SharedAccessSignature sr=x&sig=y", Connection{Endpoint: "sb://h",
			Signature: "SharedAccessSignature sr=x&sig=y"}},
	}
	for _, tt := range tests {
		if got, err := ParseConnection(tt.in); err != nil || got != tt.want {
			t.Errorf("%s: %+v, %v", tt.in, got, err)
		}
	}
}

func TestParseConnectionErrorsDoNotContainTheKey(t *testing.T) {
	for _, in := range []string{"", "x", "SharedAccessKeyName=n;SharedAccessKey=secret", "Endpoint=sb://h;SharedAccessKey=secret",
		"Endpoint=sb://h", "Endpoint=h;SharedAccessKeyName=n;SharedAccessKey=secret", "Endpoint=sb://%;SharedAccessKeyName=n;SharedAccessKey=secret"} {
		_, err := ParseConnection(in)
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", in, err)
		}
	}
}

var epoch2030 = time.Unix(1893456000, 0)

// vector is a token for the key SAS_KEY_VALUE, with a known signature.
const vector = "SharedAccessSignature sr=sb%3A%2F%2Flocalhost%2Forders&sig=AcsLFPvYmMHJ1V8fv8kh19uR7GtcEi7a8p1%2FDwjsbrk%3D&se=1893456000&skn=RootManageSharedAccessKey"

func TestSignMatchesTheVector(t *testing.T) {
	if got := Sign("sb://localhost/orders", DefaultKeyName, DefaultKey, epoch2030); got != vector {
		t.Errorf("got %s", got)
	}
}

func TestSignedBy(t *testing.T) {
	lowerHex := strings.ReplaceAll(vector, "%3A%2F%2F", "%3a%2f%2f") // another text, so another signature
	tests := []struct {
		name, token, key string
		want             bool
	}{
		{"good", vector, DefaultKey, true},
		{"lower-case signature escapes", strings.ReplaceAll(vector, "%2FDw", "%2fDw"), DefaultKey, true},
		{"raw base64", strings.NewReplacer("%2FDw", "/Dw", "k%3D", "k=").Replace(vector), DefaultKey, true},
		{"other order", "sharedaccesssignature skn=" + DefaultKeyName + "&se=1893456000&sig=AcsLFPvYmMHJ1V8fv8kh19uR7GtcEi7a8p1%2FDwjsbrk%3D&sr=sb%3A%2F%2Flocalhost%2Forders", DefaultKey, true},
		{"other key", vector, "other", false},
		{"changed resource text", lowerHex, DefaultKey, false},
		{"changed expiry", strings.Replace(vector, "1893456000", "1893456001", 1), DefaultKey, false},
	}
	for _, tt := range tests {
		token, err := ParseToken(tt.token)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got := token.SignedBy(tt.key); got != tt.want {
			t.Errorf("%s: %t, want %t", tt.name, got, tt.want)
		}
	}
}

func TestPlusInSignatureStaysPlus(t *testing.T) {
	for i := range int64(200) { // some of the signatures have a plus sign
		token := Sign("sb://h/q", "n", "k", time.Unix(2_000_000_000+i, 0))
		if !strings.Contains(token, "%2B") {
			continue
		}
		parsed, err := ParseToken(strings.ReplaceAll(token, "%2B", "+"))
		if err != nil || !parsed.SignedBy("k") {
			t.Errorf("%s: %v", token, err)
		}
		return
	}
	t.Fatal("no signature had a plus")
}

func TestParseTokenRefusesTheMalformed(t *testing.T) {
	for _, in := range []string{"", "Bearer x", scheme, scheme + " ", strings.Replace(vector, "&se=1893456000", "", 1),
		strings.Replace(vector, "se=1893456000", "se=x", 1), strings.Replace(vector, "se=1893456000", "se=-1", 1),
		strings.Replace(vector, "sr=sb%3A", "sr=sb%ZZ", 1), strings.Replace(vector, "sig=Acs", "sig=!", 1)} {
		if _, err := ParseToken(in); !errors.Is(err, errMalformed) {
			t.Errorf("%s: %v", in, err)
		}
	}
}

func TestCovers(t *testing.T) {
	tests := []struct {
		resource, path string
		want           error
	}{
		{"sb://localhost/orders", "orders", nil},
		{"sb://localhost:5672/Orders/", "orders/$management", nil},
		{"amqps://other/orders", "ORDERS/$deadletterqueue", nil},
		{"http://h/topic?api-version=2021-05", "topic/subscriptions/s", nil},
		{"sb://localhost", "orders", nil},
		{"localhost", "orders", nil},
		{"localhost:5672/orders", "orders", nil},
		{"minibus:5672", "orders", nil},
		{"127.0.0.1", "orders", nil},
		{"[::1]/orders", "orders", nil},
		{"orders", "orders", errAudience}, // names no host: it may be meant for a queue of that name
		{"queue.1", "orders", errAudience},
		{"queue.1", "queue.1", errAudience},
		{"sb:orders", "orders", errAudience},
		{"sb:/orders", "orders", errAudience},
		{"/orders", "orders", errAudience},
		{"*", "orders", errAudience},
		{"sb://*", "orders", errAudience},
		{"sb://*/", "orders", errAudience},
		{"sb://", "orders", errAudience},
		{"sb:///orders", "orders", errAudience},
		{"://localhost", "orders", errAudience},
		{"/", "orders", errAudience},
		{"?", "orders", errAudience},
		{" ", "orders", errAudience},
		{"sb://localhost, sb://other", "orders", errAudience},
		{"namespace.servicebus.windows.net/orders", "orders", nil},
		{"sb://localhost/orders", "orders2", errAudience},
		{"sb://localhost/orders/x", "orders", errAudience},
	}
	for _, tt := range tests {
		token, err := ParseToken(Sign(tt.resource, "n", "k", epoch2030))
		if err != nil {
			t.Fatal(err)
		}
		if err := token.Covers(tt.path); !errors.Is(err, tt.want) {
			t.Errorf("%s for %s: %v, want %v", tt.resource, tt.path, err, tt.want)
		}
	}
}
