package seed

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"minibus/internal/amqp/messagejson"
)

var now = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// write makes files and returns their directory.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFilesSayTheEntity(t *testing.T) {
	dir := write(t, map[string]string{
		"orders.jsonl":                     "{\"body\":\"1\"}\r\n\n{\"body\":\"2\",\"entity\":\"other\"}\n",
		"orders/$DeadLetterQueue.jsonl":    "\uFEFF{\"body\":\"3\"}",
		"events/Subscriptions/large.jsonl": `{"body":"4","namespace":"tests"}`,
		"README.md":                        "not a seed",
		"events/Subscriptions/large/$DeadLetterQueue.jsonl": `{"sequenceNumber":7,"enqueuedTime":"2020-01-01T00:00:00Z","state":"active","deliveryCount":3,"lockedUntil":"garbage","sizeBytes":"many"}`,
		".hidden.jsonl":      "no JSON",
		".git/objects.jsonl": "no JSON",
	})
	lines, err := Read([]string{dir, filepath.Join(dir, "orders.jsonl"), "-"}, strings.NewReader(`{"entity":"/in/","body":"5"}`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range lines {
		m, err := l.Message(now)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := m.Body.(string)
		got = append(got, l.Namespace+" "+l.Entity+" "+body)
	}
	want := []string{"tests events/Subscriptions/large 4", " events/Subscriptions/large/$DeadLetterQueue ", " orders 1", " other 2", " orders/$DeadLetterQueue 3",
		" orders 1", " other 2", " in 5"}
	if strings.Join(got, "|") != strings.Join(want, "|") && !sameLines(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// sameLines compares without the order of files, which depends on how the system sorts / among names.
func sameLines(got, want []string) bool {
	count := make(map[string]int)
	for i := range got {
		count[got[i]]++
	}
	for _, w := range want {
		count[w]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return len(got) == len(want)
}

func TestPlaceholders(t *testing.T) {
	lines, err := Read([]string{"-"}, strings.NewReader(strings.Repeat(`{"entity":"q","messageId":"m-{{counter}}","scheduledEnqueueTime":"{{ now + 1h30m }}","correlationId":"{{guid}}/{{guid}}",`+
		`"applicationProperties":{"{{name}}":"{{now-2d}}","t":{"timestamp":"{{now}}"}},"body":{"z":1.0,"a":[2, {"y":"<","b":0}],"text":"\\{{x}} \\\\{{{ é {{now+500ms}}"}}`+"\n", 2)+`{"entity":"p","body":"{{counter}}"}`))
	if err != nil {
		t.Fatal(err)
	}
	m, err := lines[1].Message(now)
	if err != nil {
		t.Fatal(err)
	}
	if m.MessageID != "m-2" || !m.ScheduledEnqueueTime.Equal(now.Add(90*time.Minute)) || m.ApplicationProperties["{{name}}"] != "2026-01-29T12:00:00.000Z" {
		t.Errorf("%+v", m)
	}
	ids := regexp.MustCompile(`^([0-9a-f-]{36})/([0-9a-f-]{36})$`).FindStringSubmatch(m.CorrelationID.(string))
	if ids == nil || ids[1] == ids[2] {
		t.Errorf("guids %v", m.CorrelationID)
	}
	body, err := messagejson.Document(m.Body)
	if want := `{"z":1.0,"a":[2,{"y":"<","b":0}],"text":"{{x}} \\{{{ é 2026-01-31T12:00:00.500Z"}`; err != nil || string(body) != want {
		t.Errorf("the body is %s, %v, not %s", body, err, want)
	}
	if m, _ := lines[2].Message(now); m == nil || m.Body != "1" {
		t.Errorf("the counter of another entity: %+v", m)
	}
}

func TestMistakesNameTheirPlace(t *testing.T) {
	dir := write(t, map[string]string{"empty/x.txt": ""})
	for text, want := range map[string]string{
		"{\"entity\":\"q\"}\n\n{\"entity\":\"q\",\"body\":\"é {{nwo}}\"}": `standard input:3:25: found the placeholder {{nwo}}; allowed: {{now}}, {{now+1h30m}}`,
		`{"entity":"q","body":"{{now+1x}}"}`:                              `standard input:1:23: found the placeholder {{now+1x}}`,
		`{"entity":"q","body":"{{now+999999999999999d}}"}`:                `standard input:1:23: found the placeholder {{now+999999999999999d}}; allowed: at most 106751 days`,
		`{"entity":"q","body":"{{now+300000d}}"}`:                         `standard input:1:23: found the placeholder {{now+300000d}}; allowed: at most 106751 days`,
		`{"entity":"q","body":"{{now+300000d1x}}"}`:                       `standard input:1:23: found the placeholder {{now+300000d1x}}; allowed: {{now}}`,
		`{"entity":"q","body":"{{now+99999d+99999d}}"}`:                   `standard input:1:23: found the placeholder`,
		`{"entity":"q","body":"a {{now"}`:                                 `standard input:1:25: found {{ without }}`,
		`{"body":"x"}`:                                                    `standard input:1: the message has no entity; add "entity":"orders"`,
		`{"entity":"q","bdy":"x"}`:                                        `standard input:1: `,
		`{"entity":"q","body":"x"`:                                        `standard input:1:24: unexpected end of JSON input; write one whole message in JSON on each line, { ... }`,
		`{"entity":"q",,}`:                                                `standard input:1:15: invalid character`,
		`["a"]`:                                                           `standard input:1:1: found ["a"]; allowed: a message in JSON`,
		`{"entity":"q","body":"x","bodyBase64":"eA=="}`:                   `standard input:1: found more than one of body`,
		`{"entity":"q","timeToLive":"soon"}`:                              `standard input:1: timeToLive: found "soon"`,
		`{"entity":"q","scheduledEnqueueTime":"{{guid}}"}`:                `standard input:1: `,
		`{"entity":"q"} {"entity":"q"}`:                                   `standard input:1:16: `,
	} {
		if _, err := Read([]string{"-"}, strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s\n%v\nwant %s", text, err, want)
		}
	}
	for path, want := range map[string]string{filepath.Join(dir, "missing"): "does not exist; name a file", filepath.Join(dir, "empty"): "has no files whose names end in .jsonl"} {
		if _, err := Read([]string{path}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
}

// TestTarget says where an entity comes from that no line names.
func TestTarget(t *testing.T) {
	dir := write(t, map[string]string{"s.jsonl": "{\"body\":1}\n{\"entity\":\"q\",\"namespace\":\"n\"}"})
	lines, err := Read([]string{filepath.Join(dir, "s.jsonl")}, nil)
	if err != nil || len(lines) != 2 {
		t.Fatal(lines, err)
	}
	if got := lines[0].Target() + ", " + lines[1].Target(); got != "s (the line names no entity, so the file's name counts), q in the namespace n" {
		t.Error(got)
	}
}

// TestWhatIsWrittenIsReadAsItWas without what the service sets.
func TestWhatIsWrittenIsReadAsItWas(t *testing.T) {
	at, number, count := now.Add(26*time.Hour+30*time.Second), int64(7), uint32(2)
	m := &messagejson.Message{MessageID: "{{guid}}", Body: `{"a":{"b":"{{{now}} \\{{ <x>"}}`, ScheduledEnqueueTime: &at, SequenceNumber: &number, DeliveryCount: &count,
		State: "scheduled", EnqueuedTime: &at, DeadLetterReason: "r", BodyBytes: &number, TimeToLive: "PT1H", CreationTime: &at, AbsoluteExpiryTime: &at, ApplicationProperties: messagejson.Values{"{{x}}": "{{y}}"}}
	text, err := Append(nil, "a/b", m, now)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(text), `{"entity":"a/b","scheduledEnqueueTime":"{{now+1d2h30s}}","messageId":"\\{{guid}}",`) || strings.Contains(string(text), "sequenceNumber") || strings.Contains(string(text), "creationTime") {
		t.Errorf("written %s", text)
	}
	lines, err := Read([]string{"-"}, strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	got, err := lines[0].Message(now.Add(time.Hour))
	if err != nil || got.Body != m.Body || got.MessageID != m.MessageID || got.ApplicationProperties["{{x}}"] != "{{y}}" || !got.ScheduledEnqueueTime.Equal(at.Add(time.Hour)) ||
		got.SequenceNumber != nil || got.State != "" {
		t.Errorf("read %+v, %v", got, err)
	}
	for name, m := range map[string]*messagejson.Message{`{"entity":"q"}`: {}, `{"entity":"q","scheduledEnqueueTime":"{{now}}"}`: {ScheduledEnqueueTime: &now},
		`{"entity":"q","scheduledEnqueueTime":"{{now-1m}}"}`: {ScheduledEnqueueTime: new(now.Add(-time.Minute))}} {
		if text, err := Append(nil, "q", m, now); err != nil || string(text) != name+"\n" {
			t.Errorf("%s%v, want %s", text, err, name)
		}
	}
	if text, _ := Append(nil, "", &messagejson.Message{ScheduledEnqueueTime: &at, Body: "x"}, time.Time{}); string(text) != `{"scheduledEnqueueTime":"2026-02-01T14:00:30Z","body":"x"}`+"\n" {
		t.Errorf("written %s", text)
	}
}
