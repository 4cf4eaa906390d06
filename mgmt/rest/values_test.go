package rest

import (
	"math"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
)

var noon = amqp.TimestampOf(time.Date(2026, 6, 30, 20, 51, 21, 0, time.UTC))

// TestCustomHeaderValues is the syntax of management-rest 7.1.
func TestCustomHeaderValues(t *testing.T) {
	for text, want := range map[string]any{
		`"text"`: "text", `"a \"b\""`: `a "b"`, `"back\slash\"`: `back\slash\`, `""`: "", `"12"`: "12", `"true"`: "true", ``: "",
		`true`: true, `false`: false, `True`: "True", `null`: "null",
		`12`: int32(12), `-5`: int32(-5), `0`: int32(0), `2147483647`: int32(math.MaxInt32), `2147483648`: int64(2147483648),
		`-2147483648`: int32(math.MinInt32), `9223372036854775807`: int64(math.MaxInt64), `9223372036854775808`: 9223372036854775808.0,
		`1.5`: 1.5, `1e3`: 1000.0, `-0.0`: math.Copysign(0, -1), `1e999`: "1e999", `007`: "007", `+5`: "+5", `0x10`: "0x10", `NaN`: "NaN", `1,2`: "1,2",
		`High`: "High", `a"b`: `a"b`, `"`: `"`, `"a`: `"a`, `12345,ABC`: "12345,ABC", `{"a":1}`: `{"a":1}`,
		`"Tue, 30 Jun 2026 20:51:21 GMT"`: noon, `Tue, 30 Jun 2026 20:51:21 GMT`: "Tue, 30 Jun 2026 20:51:21 GMT",
		`"Wed, 30 Jun 2026"`: "Wed, 30 Jun 2026",
	} {
		if got := parseValue(text); got != want {
			t.Errorf("%s: %T %v, want %T %v", text, got, got, want, want)
		}
	}
}

// TestShownValues: every type that an application property can have (management-rest 7.2).
func TestShownValues(t *testing.T) {
	described := func(name string, v any) any { return amqp.Described{Descriptor: amqp.Symbol(name), Value: v} }
	for _, tt := range []struct {
		value any
		want  string
	}{
		{"text", `"text"`}, {`a "b"`, `"a \"b\""`}, {"two\r\nlines\x00", `"two  lines "`}, {"", `""`}, {"ü😀", `"ü😀"`},
		{true, "true"}, {false, "false"}, {uint8(7), "7"}, {uint16(7), "7"}, {uint32(7), "7"}, {uint64(math.MaxUint64), "18446744073709551615"},
		{int8(-7), "-7"}, {int16(-7), "-7"}, {int32(-7), "-7"}, {int64(math.MinInt64), "-9223372036854775808"},
		{float32(0.1), "0.1"}, {1.5, "1.5"}, {2.0, "2.0"}, {1e300, "1e+300"}, {math.Inf(1), "+Inf"}, {amqp.Char('ü'), `"ü"`},
		{noon, `"Tue, 30 Jun 2026 20:51:21 GMT"`}, {amqp.UUID{0x7f, 0x3c}, `"7f3c0000-0000-0000-0000-000000000000"`},
		{[]byte{1, 2, 3}, `"AQID"`}, {described("com.microsoft:uri", "http://x/"), `"http://x/"`},
		{described("com.microsoft:timespan", int64(864_000_000_000+15_000_000)), `"1.00:00:01.5000000"`},
		{described("com.microsoft:timespan", int64(-10_000_000)), `"-00:00:01"`},
		{described("com.microsoft:datetime-offset", int64(noon)*10_000+621_355_968_000_000_000), `"Tue, 30 Jun 2026 20:51:21 GMT"`},
		{amqp.Decimal128{0x8c, 0x3c, 14: 0x04, 15: 0xe2}, "-12.50"}, {amqp.Decimal128{0x30, 0x3c, 14: 0x04, 15: 0xe2}, "12.50"}, // of .NET, of IEEE 754
		{amqp.Decimal128{0x78}, `"eAAAAAAAAAAAAAAAAAAAAA=="`},
		{amqp.Decimal64{1}, `"{\"decimal64\":\"AQAAAAAAAAA=\"}"`}, {amqp.List{int32(1)}, `"{\"list\":[{\"int\":1}]}"`},
		{described("x", "y"), `"{\"described\":{\"descriptor\":{\"symbol\":\"x\"},\"value\":\"y\"}}"`}, {nil, ""},
	} {
		raw, err := amqp.AppendValue(nil, tt.value)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := formatValue(message.DecodeScalar(raw))
		if ok != (tt.want != "") || ok && got != tt.want {
			t.Errorf("%T %v: %s %v, want %s", tt.value, tt.value, got, ok, tt.want)
		}
	}
}

func TestNamesThatAreProperties(t *testing.T) {
	for name, want := range map[string]bool{
		"Priority": true, "Customer": true, "X-Custom": true, "x": true, "NServiceBus.MessageId": true, "Contents": true,
		"Host": false, "Content-Type": false, "content-MD5": false, "Accept": false, "Accept-Language": false, "Connection": false,
		"Expect": false, "Date": false, "User-Agent": false, "Transfer-Encoding": false, "Cookie": false, "Via": false, "X-Forwarded-For": false,
		"traceparent": false, "BrokerProperties": false, "x-ms-retrypolicy": false, "X-PROCESS-AT": false, "Authorization": false,
		"ServiceBusAuthorization": false, "If-Match": false, "Sec-Fetch-Mode": false, "Origin": false,
	} {
		if got := isProperty(http.CanonicalHeaderKey(name)); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	for name, want := range map[string]bool{
		"Priority": true, "traceparent": true, "Diagnostic-Id": true, "x-ms-y": true, "a.b_c~": true, "DeadLetterReason": true,
		"": false, "two words": false, "ü": false, "a:b": false, "a\r\nb": false, "Content-Length": false, "transfer-encoding": false,
		"Set-Cookie": false, "LOCATION": false, "Brokerproperties": false, "Access-Control-Allow-Origin": false,
		"Content-Security-Policy": false, "X-Frame-Options": false, "clear-site-data": false, "Speculation-Rules": false,
		"NEL": false, "Report-To": false, "Service-Worker-Allowed": false, "SourceMap": false,
	} {
		if got := isShown(name); got != want {
			t.Errorf("%q is shown: %v", name, got)
		}
	}
}

func TestParseProperties(t *testing.T) {
	for text, want := range map[string]string{
		`{`: "not a JSON object", `[]`: "not a JSON object", `"x"`: "not a JSON object", `{} {}`: "not a JSON object",
		`{"Label":1}`: "'Label' of BrokerProperties is not a string", `{"SessionId":{}}`: "'SessionId'",
		`{"TimeToLive":"soon"}`: "not a number of seconds", `{"TimeToLive":""}`: "not a number of seconds", `{"TimeToLive":"0x10"}`: "not a number of seconds",
		`{"TimeToLive":"NaN"}`: "not a number of seconds", `{"TimeToLive":"-1"}`: "must be positive", `{"TimeToLive":true}`: "not a number of seconds", `{"TimeToLive":0}`: "must be positive", `{"TimeToLive":-1}`: "must be positive",
		`{"TimeToLiveTimeSpan":40}`: "not a time span", `{"TimeToLiveTimeSpan":"x"}`: "not a time span", `{"TimeToLiveTimeSpan":"0:00:00"}`: "must be positive",
		`{"TimeToLiveTimeSpan":"25:00:00"}`: "not a time span", `{"ScheduledEnqueueTimeUtc":5}`: "not a date", `{"ScheduledEnqueueTimeUtc":"soon"}`: "not a date",
		`{"SessionId":"a","PartitionKey":"b"}`: "must be equal",
		strings.Repeat(`{"a":`, 20_000):        "not a JSON object",
	} {
		_, err := parseProperties(text)
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 300 {
			t.Errorf("%.40s: %v, want %s", text, err, want)
		}
	}
	p, err := parseProperties(`{"Label":"a","Label":"b","label":"c","SessionId":"","To":null,"X":[1],"TimeToLive":0.0001}`)
	if err != nil || *p.Label != "b" || *p.SessionID != "" || p.To != nil || p.TTL != 1 {
		t.Errorf("%+v %v", p, err)
	}
}

// TestHeadersAreUTF8OrElseLatin1: HTTP leaves the encoding of a header open, and clients use both.
func TestHeadersAreUTF8OrElseLatin1(t *testing.T) {
	m, err := FromHeaders(http.Header{
		HeaderBrokerProperties: {"{\"Label\":\"M\xfcller \xa9\",\"To\":\"\\u00fc\"}"},
		"Latin":                {"\"Stra\xdfe\""}, "Utf": {`"Straße €"`}, "Bare": {"\xfc"}, "Both": {"\xe4", "ö", "x"}, "Controls": {"\x80\x85\xff"},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if *m.Label != "Müller ©" || *m.To != "ü" {
		t.Errorf("label %q, to %q", *m.Label, *m.To)
	}
	want := amqp.Map{{Key: "Bare", Value: "ü"}, {Key: "Both", Value: "ä,ö,x"}, {Key: "Controls", Value: "\u0080\u0085ÿ"}, {Key: "Latin", Value: "Straße"},
		{Key: "Utf", Value: "Straße €"}}
	if !reflect.DeepEqual(m.User, want) {
		t.Errorf("%q", m.User)
	}
}

func TestTimeToLive(t *testing.T) { // management-rest 7.1
	for text, want := range map[string]int64{
		`"TimeToLive":40`: 40_000, `"TimeToLive":0.5`: 500, `"TimeToLive":1e3`: 1_000_000, `"TimeToLive":922337203685.47754`: 0,
		`"TimeToLive":null`: 0, `"TimeToLiveTimeSpan":"0.00:00:40"`: 40_000, `"TimeToLiveTimeSpan":"00:01:30.5"`: 90_500,
		`"TimeToLiveTimeSpan":"10675199.02:48:05.4775807"`: 0, `"TimeToLiveTimeSpan":"1.00:00:00"`: 86_400_000, `"TimeToLiveTimeSpan":"00:00:00.0000001"`: 1,
		`"TimeToLive":"40"`: 40_000, `"TimeToLive":"0.5"`: 500, `"TimeToLive":" 1e3 "`: 1_000_000, `"TimeToLive":"922337203685.47754"`: 0,
		`"TimeToLive":1,"TimeToLiveTimeSpan":"00:01:00"`: 1000, `"TimeToLiveTimeSpan":"0:05"`: 300_000,
	} {
		p, err := parseProperties("{" + text + "}")
		if err != nil || p.TTL != want {
			t.Errorf("%s: %d %v, want %d", text, p.TTL, err, want)
		}
	}
}

func TestScheduledTimes(t *testing.T) {
	for text, want := range map[string]bool{
		"Tue, 30 Jun 2026 20:51:21 GMT": true, "2026-06-30T20:51:21Z": true, "2026-06-30T22:51:21+02:00": true, "Tuesday, 30-Jun-26 20:51:21 GMT": true,
		"Tue, 30 Jun 2026 20:51:21 +0000": true, "Tue, 30 Jun 2026 22:51:21 +0200": true, "30 Jun 2026 20:51:21 +0000": true,
		"Tue, 30 Jun 2026 15:51:21 EST": true, "Tue, 30 Jun 2026 20:51:21 UT": true, "Tue, 30 Jun 2026 20:51:21 Z": true,
		"Tue, 30 Jun 2026 20:51:21 -0000": true, "Tue, 30 Jun 2026 20:51:21 CEST": false,
		"Tue, 30 Jun 2026 20:51:21": true, "Tue, 30 Jun 2026 20:51:21 UTC": true, "2026-06-30T20:51:21": true, "2026-06-30 20:51:21": true,
		"2026-06-30 20:51:21 UTC": true, "2026-06-30T20:51:21 UTC": true, "2026-06-30 20:51:21.000": true, "2026-06-30T20:51:21.0000000": true,
		"2026-06-30 20:51:21Z": true, "2026-06-30 20:51:21 Z": true, "2026-06-30 20:51:21 GMT": true, "2026-06-30 22:51:21+02:00": true,
		"2026-06-30 22:51:21 +02:00": true, "2026-06-30 22:51:21 +0200": true, "06/30/2026 20:51:21": true, "6/30/2026 8:51:21 PM": true, "6/30/2026 8:51:21 pm UTC": true,
		"30 Jun 2026 20:51:21": true, " 2026-06-30T20:51:21Z ": true, "Tuesday, 30 June 2026 20:51:21": true,
		"2026-06-30T20:51:21 CEST": false, "2026-06-30T20:51:21 +2": false, "30/06/2026 20:51:21": false,
		"30.6.2026": false, "": false, " UTC": false, "UTC": false, "2026-06-31T20:51:21": false, "2026-06-30T25:51:21": false,
	} {
		p, err := parseProperties(`{"ScheduledEnqueueTimeUtc":"` + text + `"}`)
		if (err == nil) != want || want && amqp.TimestampOf(p.Scheduled) != noon {
			t.Errorf("%s: %v %v", text, p.Scheduled, err)
		}
	}
}

// Dates of .NET, and so of the service, lie in the years 1 to 9999 of UTC. Rounding up to a millisecond does not leave them.
func TestScheduledTimesAreInTheYearsOfDotNet(t *testing.T) {
	for text, want := range map[string]string{
		"0001-01-01T00:00:00Z": "0001-01-01T00:00:00Z", "0001-01-01T01:00:00+01:00": "0001-01-01T00:00:00Z", "9999-12-31T22:59:59.999-01:00": "9999-12-31T23:59:59.999Z",
		"9999-12-31T23:59:59.9999999Z": "9999-12-31T23:59:59.999Z",
		"0000-12-31T23:59:59Z":         "", "0001-01-01T00:59:59+01:00": "", "9999-12-31T23:00:00-01:00": "", "Fri, 31 Dec 9999 23:59:59 EST": "",
	} {
		p, err := parseProperties(`{"ScheduledEnqueueTimeUtc":"` + text + `"}`)
		switch {
		case want == "" && (err == nil || !strings.Contains(err.Error(), "is not a date such as")):
			t.Errorf("%s: %v %v", text, p.Scheduled, err)
		case want != "" && (err != nil || p.Scheduled.UTC().Format(time.RFC3339Nano) != want):
			t.Errorf("%s: %v %v, want %s", text, p.Scheduled, err, want)
		}
	}
}

// Minutes and days are enough, as .NET reads them.
func TestScheduledTimesWithoutSeconds(t *testing.T) {
	for text, want := range map[string]string{
		"2026-06-30T20:51": "2026-06-30T20:51:00Z", "2026-06-30 20:51 UTC": "2026-06-30T20:51:00Z", "2026-06-30": "2026-06-30T00:00:00Z",
		"6/30/2026 8:51 AM": "2026-06-30T08:51:00Z", "6/30/2026": "2026-06-30T00:00:00Z", "2026-06-30T20:51:21.1234567": "2026-06-30T20:51:21.124Z",
	} {
		p, err := parseProperties(`{"ScheduledEnqueueTimeUtc":"` + text + `"}`)
		if err != nil || p.Scheduled.UTC().Format(time.RFC3339Nano) != want {
			t.Errorf("%s: %v %v, want %s", text, p.Scheduled, err, want)
		}
	}
}
