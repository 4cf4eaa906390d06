package cbs

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"minibus/internal/amqp"
	"minibus/internal/amqptest"

	goamqp "github.com/Azure/go-amqp"
)

const sasToken = "SharedAccessSignature sr=sb%3a%2f%2flocalhost%2fq&sig=c2ln&se=4102444800&skn=RootManageSharedAccessKey"

var expiry = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)

// Each SDK writes put-token its own way: the types of the message-id, of the expiry and of the body differ.
func TestPutTokenOfEverySDK(t *testing.T) {
	sasType := amqp.Pair{Key: "type", Value: "servicebus.windows.net:sastoken"}
	operation := amqp.Pair{Key: "operation", Value: "put-token"}
	tests := []struct {
		name       string
		id         any
		wantID     any
		properties amqp.Map
		body       any
		wantExpiry time.Time
	}{
		{"go", "7f2e", "7f2e", amqp.Map{operation, {Key: "type", Value: "jwt"},
			{Key: "name", Value: "amqp://localhost:5672/q"},
			{Key: "expiration", Value: "4102444800"}}, sasToken, expiry},
		{"go, ready-made signature", "7f2e", "7f2e",
			amqp.Map{operation, sasType, {Key: "name", Value: "amqp://localhost/q"},
				{Key: "expiration", Value: "0"}}, sasToken, time.Time{}},
		{"js", "0b-1", "0b-1", amqp.Map{operation, {Key: "name", Value: "sb://localhost/q"}, sasType},
			sasToken, time.Time{}},
		{"dotnet", "m1", "m1", amqp.Map{operation, sasType, {Key: "name", Value: "sb://localhost/q"},
			{Key: "expiration", Value: amqp.TimestampOf(expiry)}}, sasToken, expiry},
		{"java", uint64(1), uint64(1), amqp.Map{operation, sasType, {Key: "name", Value: "amqp://localhost/q"}},
			sasToken, time.Time{}},
		{"python", uint64(0), uint64(0), amqp.Map{{Key: []byte("operation"), Value: []byte("put-token")}, sasType,
			{Key: "name", Value: "sb://localhost/q"}, {Key: "expiration", Value: int64(4102444800)}},
			[]byte(sasToken), expiry},
		{"uuid as id", amqp.UUID{1, 2}, goamqp.UUID{1, 2},
			amqp.Map{operation, sasType, {Key: "name", Value: "sb://h/q"}}, sasToken, time.Time{}},
		{"binary as id", []byte{9}, []byte{9}, amqp.Map{operation, sasType, {Key: "name", Value: "sb://h/q"}},
			sasToken, time.Time{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var gotToken string
			p := Policy{Exists: only("q"), Authorize: func(path, token string) (Checked, error) {
				gotToken = token
				return Checked{Path: path, Expires: tt.wantExpiry}, nil
			}}
			a, g := handle(t, p, amqptest.EncodeRequest(t, tt.id, tt.properties, tt.body))
			if a.code != 202 || a.condition != "" {
				t.Fatalf("answer %+v, want 202 without a condition", a)
			}
			if !reflect.DeepEqual(a.correlationID, tt.wantID) {
				t.Errorf("correlation-id %T %v, want %T %v", a.correlationID, a.correlationID, tt.wantID, tt.wantID)
			}
			if g == nil || g.Path != "q" || !g.Expires.Equal(tt.wantExpiry) {
				t.Errorf("grant %+v, want path q, expiry %v", g, tt.wantExpiry)
			}
			if gotToken != sasToken || g.Token != sasToken {
				t.Errorf("token %q, want the one that was sent", gotToken)
			}
			if _, g = handle(t, Policy{Exists: only("q")},
				amqptest.EncodeRequest(t, tt.id, tt.properties, tt.body)); !g.Expires.Equal(tt.wantExpiry) {
				t.Errorf("expiry without a check %v, want %v", g.Expires, tt.wantExpiry)
			}
			if g.IsJWT() {
				t.Error("a signature is taken for a web token")
			}
		})
	}
}

func TestERR4_MissingEntityIs404AtPutToken(t *testing.T) {
	p := Policy{Exists: only("q", "topic", "a/b")}
	tests := []struct{ audience, missing string }{
		{"sb://localhost/q", ""},
		{"amqps://localhost:5671/q/$management", ""},
		{"amqp://localhost/q/%24management/", ""},
		{"sb://localhost/a/b/$DeadLetterQueue/$management", ""},
		{"sb://localhost/q/$Transfer/$DeadLetterQueue", ""},
		{"sb://localhost/topic/Subscriptions/none", ""},
		{"sb://localhost/topic/subscriptions/none/$deadletterqueue/$Management", ""},
		{"sb://localhost", ""},
		{"sb://localhost:5672/", ""},
		{"sb://localhost/$management", ""},
		{"sb://localhost/none", "sb://localhost/none"},
		{"amqp://127.0.0.1:5672/none/", "sb://127.0.0.1:5672/none"},
		{"sb://ns.servicebus.windows.net/None/$management", "sb://ns.servicebus.windows.net/None/$management"},
		{"sb://localhost/none/Subscriptions/sub", "sb://localhost/none/Subscriptions/sub"},
	}
	for _, tt := range tests {
		t.Run(tt.audience, func(t *testing.T) {
			a, g := handle(t, p, amqptest.EncodeRequest(t, "1", putTokenProperties(tt.audience), sasToken))
			if tt.missing == "" {
				if a.code != 202 || g == nil {
					t.Fatalf("answer %+v, grant %v; want 202 and a grant", a, g)
				}
				return
			}
			want := "The messaging entity '" + tt.missing + "' could not be found."
			if a.code != 404 || a.description != want || a.condition != "amqp:not-found" || g != nil {
				t.Errorf("answer %+v, grant %v; want 404 %q", a, g, want)
			}
		})
	}
}

func TestRefusedTokenIs401(t *testing.T) {
	var logged string
	p := Policy{
		Exists: only("q"),
		Authorize: func(string, string) (Checked, error) {
			return Checked{}, errors.New("ExpiredToken: The token is expired.")
		},
		Refused: func(audience, text string) { logged = audience + " " + text },
	}
	a, g := handle(t, p, amqptest.EncodeRequest(t, uint64(3), putTokenProperties("sb://localhost/q"), sasToken))
	if a.code != 401 || a.condition != "amqp:unauthorized-access" || g != nil {
		t.Errorf("answer %+v, grant %v; want 401 and no grant", a, g)
	}
	if want := "sb://localhost/q ExpiredToken: The token is expired."; logged != want {
		t.Errorf("the caller was told %q, want %q", logged, want)
	}
}

func TestDEC10_AnyTokenIsAcceptedByDefault(t *testing.T) {
	past := append(putTokenProperties("sb://localhost/q"), amqp.Pair{Key: "expiration", Value: amqp.Timestamp(1)})
	if a, g := handle(t, Policy{}, amqptest.EncodeRequest(t, "1", past, "nonsense")); a.code != 202 || g == nil {
		t.Errorf("answer %+v, grant %v; want any token accepted", a, g)
	}
}

func TestBadRequestNamesTheFault(t *testing.T) {
	good := putTokenProperties("sb://localhost/q")
	with := func(key string, v any) amqp.Map {
		m := append(amqp.Map(nil), good...)
		for i := range m {
			if m[i].Key == key {
				m[i].Value = v
				return m
			}
		}
		return append(m, amqp.Pair{Key: key, Value: v})
	}
	tests := []struct {
		name       string
		properties amqp.Map
		body       any
		code       int32
		text       []string
	}{
		{"no operation", with("operation", nil), sasToken, 400, []string{"'operation'", "missing", "string"}},
		{"other operation", with("operation", "delete-token"), sasToken, 501,
			[]string{"'delete-token'", "'put-token'"}},
		{"no name", with("name", nil), sasToken, 400, []string{"'name'", "missing"}},
		{"empty name", with("name", ""), sasToken, 400, []string{"'name'", `""`}},
		{"name of a wrong type", with("name", int32(5)), sasToken, 400, []string{"'name'", "5", "string"}},
		{"type of a wrong type", with("type", true), sasToken, 400, []string{"'type'", "true"}},
		{"expiration in words", with("expiration", "tomorrow"), sasToken, 400,
			[]string{"'expiration'", "tomorrow", "seconds"}},
		{"no body", good, nil, 400, []string{"body", "string"}},
		{"body of a wrong type", good, int32(1), 400, []string{"body", "string"}},
		{"body a list", good, amqp.List{"x"}, 400, []string{"body", "string"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, g := handle(t, Policy{}, amqptest.EncodeRequest(t, "1", tt.properties, tt.body))
			if a.code != tt.code || g != nil || a.condition == "" {
				t.Fatalf("answer %+v, grant %v; want %d", a, g, tt.code)
			}
			for _, part := range tt.text {
				if !strings.Contains(a.description, part) {
					t.Errorf("description %q does not say %q", a.description, part)
				}
			}
		})
	}
}

func TestTextsAreBoundedUTF8(t *testing.T) {
	p := Policy{Exists: only()}
	tests := []struct {
		name     string
		audience any
		code     int
	}{
		{"a long name whose letters are cut", "sb://localhost/" + strings.Repeat("é", 5000), 404},
		{"bytes that are no text", []byte("sb://localhost/" + strings.Repeat("\xff\xfe", 5000)), 400},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			properties := amqp.Map{{Key: "operation", Value: "put-token"}, {Key: "name", Value: tt.audience}}
			a, _ := handle(t, p, amqptest.EncodeRequest(t, "1", properties, sasToken))
			if int(a.code) != tt.code || !utf8.ValidString(a.description) || len(a.description) > 2048 {
				t.Errorf("answer %d with %d bytes of text, UTF-8: %v", a.code, len(a.description),
					utf8.ValidString(a.description))
			}
		})
	}
}

func TestRequestWithoutMessageID(t *testing.T) {
	a, g := handle(t, Policy{}, amqptest.EncodeRequest(t, nil, putTokenProperties("sb://localhost/q"), sasToken))
	if a.code != 202 || a.correlationID != nil || g == nil {
		t.Errorf("answer %+v, want 202 with a null correlation-id", a)
	}
}

func TestAudiencePath(t *testing.T) {
	tests := []struct{ audience, want string }{
		{"sb://localhost/q", "q"},
		{"AMQPS://LOCALHOST:5671/Q/", "Q"},
		{"http://[::1]:5300/q", "q"},
		{"/q", "q"},
		{"q", "q"},
		{"topic/Subscriptions/sub", "topic/Subscriptions/sub"},
		{"sb://h/topic/Subscriptions/sub/%24management", "topic/Subscriptions/sub/$management"},
		{"sb://h/q/$DeadLetterQueue", "q/$DeadLetterQueue"},
		{"sb://h/a%2Fb", "a/b"},
		{"sb://h/a%zz", "a%zz"},
		{"sb://h/q?api-version=1", "q"},
		{"sb://h//q//", "q"},
		{"sb://h", ""},
		{"sb://", ""},
		{"", ""},
	}
	for _, tt := range tests {
		if _, got := splitAudience(tt.audience); got != tt.want {
			t.Errorf("AudiencePath(%q) = %q, want %q", tt.audience, got, tt.want)
		}
	}
}

func putTokenProperties(audience string) amqp.Map {
	return amqp.Map{
		{Key: "operation", Value: "put-token"},
		{Key: "type", Value: "servicebus.windows.net:sastoken"},
		{Key: "name", Value: audience},
	}
}
