package command

import (
	"context"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"minibus/config"
	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/mgmt/atom"
	"minibus/server"
)

// exportable returns rules of every kind that a broker can have.
func exportable() []emulator.RuleOptions {
	values := emulator.Values{
		"text": "it's", "none": "", "flag": true, "int": int32(-7), "long": int64(math.MinInt64 + 1), "double": -2.5, "whole": 3.0,
	}
	return []emulator.RuleOptions{
		{Name: "empty", Correlation: &emulator.CorrelationFilter{}},
		{Name: "empty-with-action", Correlation: &emulator.CorrelationFilter{}, Action: "SET a = 1"},
		{Name: "correlation", Correlation: &emulator.CorrelationFilter{Label: new("l"), To: new(""), Properties: values}},
		{Name: "true", SQL: "1=1", Constant: true},
		{Name: "$default", SQL: "1=1", Constant: true, Action: "REMOVE b"},
		{Name: "false", SQL: "1=0", Constant: true},
		{Name: "sql-true", SQL: "1=1"},
		{Name: "sql", SQL: "a = 'ä\t\u2028' AND \"b c\" IS NULL", Action: "SET x = 'y'; REMOVE z"},
		{Name: "parameters", SQL: "a = @text OR b = @int AND c = @double", Parameters: emulator.Values{"@text": "it's", "@int": int32(-7), "@double": 1e300},
			Action: "SET n = @n", ActionParameters: emulator.Values{"@n": int64(5)}},
		{Name: "control", SQL: "a = '\x01\r\n\uFFFF'", Action: "SET b = '\x1f'"},
		{Name: "control-correlation", Correlation: &emulator.CorrelationFilter{Label: new("\x02"), Properties: emulator.Values{"\x03": "\r"}}},
		{Name: "long", SQL: "a = '" + strings.Repeat("x", 2000) + "'"},
		{Name: "long-parameters", SQL: "a = '" + strings.Repeat("x", 1020) + "' OR b = @b", Parameters: emulator.Values{"@b": int32(1)}},
		{Name: "span", SQL: "a = @a", Parameters: emulator.Values{"@a": time.Minute}},
		{Name: "odd", Correlation: &emulator.CorrelationFilter{Properties: emulator.Values{
			"guid": amqp.UUID{1}, "byte": uint8(1), "ulong": uint64(math.MaxUint64), "char": amqp.Char('x'), "float": float32(1.5)}}},
		{Name: "at", Correlation: &emulator.CorrelationFilter{Properties: emulator.Values{"at": time.UnixMilli(5)}}},
		{Name: "infinite", Correlation: &emulator.CorrelationFilter{Properties: emulator.Values{"x": math.Inf(-1)}}},
		{Name: "not-a-number", Correlation: &emulator.CorrelationFilter{Properties: emulator.Values{"x": math.NaN()}}},
	}
}

// serveTopology starts a broker in this process, with or without a file.
func serveTopology(t *testing.T, topology *config.Topology, limits config.Profile) *server.Server {
	t.Helper()
	return start(t, server.Config{Topology: topology, Settings: config.Settings{
		Host: "localhost", TLSPort: config.PortOff, HTTPPort: config.PortOff, Ephemeral: true, Limits: limits}})
}

// exportOf writes the Config.json of a running broker.
func exportOf(t *testing.T, a *server.Server) (file, warnings string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "Config.json")
	var stderr output
	if err := Run(context.Background(), []string{"export", connectionTo(a.Ports().AMQP, "UseDevelopmentEmulator=true"), "--out", file}, nil, &output{}, &stderr); err != nil {
		t.Fatalf("export: %v", err)
	}
	return file, stderr.String()
}

// Every rule that a broker can have comes back from its export as the API showed it.
func TestWhatIsExportedStartsAgainWithEveryKindOfRule(t *testing.T) {
	a := serveTopology(t, nil, config.ProfileRelaxed)
	if _, err := a.Namespace().Entities().CreateTopic("t", emulator.TopicOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, r := range exportable() {
		for _, rules := range [][]emulator.RuleOptions{{r}, {r, emulator.DefaultRule()}} {
			name := strings.TrimPrefix(r.Name, "$") + map[int]string{1: "", 2: "-and-default"}[len(rules)]
			if len(rules) == 2 && strings.EqualFold(r.Name, emulator.DefaultRuleName) {
				continue
			}
			if _, err := a.Namespace().Entities().CreateSubscription("t", emulator.SubscriptionOptions{Name: name, Rules: rules}); err != nil {
				t.Fatalf("%s: %v", r.Name, err)
			}
		}
	}
	file, warnings := exportOf(t, a)
	for name, warned := range map[string]bool{"t/control/control: a text": true, "t/control-correlation/control-correlation: a text": true,
		"t/span/": false, "t/at/": false, "t/sql/": false, "t/correlation/": false, "t/empty/": false} {
		if strings.Contains(warnings, name) != warned {
			t.Errorf("warning of %s: %v, want %v:\n%s", name, !warned, warned, warnings)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	parsed, report := config.Parse(file, text, config.ProfileRelaxed)
	if err := report.Err(); err != nil {
		t.Fatalf("the start refuses what was exported: %v", err)
	}
	again := serveTopology(t, parsed, config.ProfileRelaxed)
	for _, r := range exportable() {
		path := "t/Subscriptions/" + strings.TrimPrefix(r.Name, "$") + "/Rules/" + r.Name
		if before, after := shownRule(t, a, path), shownRule(t, again, path); before != after {
			t.Errorf("%s became\n%s\nfrom\n%s", r.Name, after, before)
		}
	}
	file, _ = exportOf(t, again)
	if second, err := os.ReadFile(file); err != nil || string(second) != string(text) {
		t.Errorf("the second export differs, %v:\n%s\nfrom\n%s", err, second, text)
	}
}

// createOverHTTP makes an entity with the administration API.
func createOverHTTP(t *testing.T, a *server.Server, path, kind, settings string) {
	t.Helper()
	body := `<entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml"><` + kind +
		`Description xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect">` + settings + `</` + kind + `Description></content></entry>`
	if status, answer := overHTTP(t, a, http.MethodPut, path, body); status != http.StatusCreated {
		t.Fatalf("create %s: status %d, %s", path, status, answer)
	}
}

func overHTTP(t *testing.T, a *server.Server, method, path, body string) (status int, answer string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return a.Dial(ctx) }}}
	r, err := http.NewRequestWithContext(t.Context(), method, "http://localhost/"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	w, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Body.Close() }()
	text, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.StatusCode, string(text)
}

var createdAt = regexp.MustCompile(`<CreatedAt>[^<]*</CreatedAt>`)

// shownRule returns the document of a rule, without the time of its creation.
func shownRule(t *testing.T, a *server.Server, path string) string {
	t.Helper()
	status, answer := overHTTP(t, a, http.MethodGet, path, "")
	_, description, found := strings.Cut(answer, "<RuleDescription")
	if status != http.StatusOK || !found {
		t.Fatalf("get %s: status %d, %s", path, status, answer)
	}
	return createdAt.ReplaceAllString(description, "")
}

// typedValues are values of a rule, of every type that clients give over HTTP.
const typedValues = `<KeyValueOfstringanyType><Key>@text</Key><Value i:type="x:string">it's 5</Value></KeyValueOfstringanyType>` +
	`<KeyValueOfstringanyType><Key>@true</Key><Value i:type="x:boolean">true</Value></KeyValueOfstringanyType>` +
	`<KeyValueOfstringanyType><Key>@int</Key><Value i:type="x:int">-7</Value></KeyValueOfstringanyType>` +
	`<KeyValueOfstringanyType><Key>@long</Key><Value i:type="x:long">-9223372036854775808</Value></KeyValueOfstringanyType>` +
	`<KeyValueOfstringanyType><Key>@byte</Key><Value i:type="x:byte">-128</Value></KeyValueOfstringanyType>` +
	`<KeyValueOfstringanyType><Key>@short</Key><Value i:type="x:short">-32768</Value></KeyValueOfstringanyType>` +
	`<KeyValueOfstringanyType><Key>@ubyte</Key><Value i:type="x:unsignedByte">255</Value></KeyValueOfstringanyType>` +
	`<KeyValueOfstringanyType><Key>@ushort</Key><Value i:type="x:unsignedShort">65535</Value></KeyValueOfstringanyType>` +
	`<KeyValueOfstringanyType><Key>@uint</Key><Value i:type="x:unsignedInt">4294967295</Value></KeyValueOfstringanyType>` +
	`<KeyValueOfstringanyType><Key>@ulong</Key><Value i:type="x:unsignedLong">18446744073709551615</Value></KeyValueOfstringanyType>` +
	`<KeyValueOfstringanyType><Key>@double</Key><Value i:type="x:double">3</Value></KeyValueOfstringanyType>` +
	`<KeyValueOfstringanyType><Key>@infinite</Key><Value i:type="x:double">-INF</Value></KeyValueOfstringanyType>` +
	`<KeyValueOfstringanyType><Key>@float</Key><Value i:type="x:float">0.1</Value></KeyValueOfstringanyType>` +
	`<KeyValueOfstringanyType><Key>@at</Key><Value i:type="x:dateTime">2026-11-22T10:00:00.1234567Z</Value></KeyValueOfstringanyType>` +
	`<KeyValueOfstringanyType><Key>@local</Key><Value i:type="x:dateTime">0001-01-01T00:00:00.0000001</Value></KeyValueOfstringanyType>` +
	`<KeyValueOfstringanyType><Key>@span</Key><Value i:type="x:duration">-P1DT2H3M4.0000005S</Value></KeyValueOfstringanyType>` +
	`<KeyValueOfstringanyType><Key>@longest</Key><Value i:type="x:duration">P10675199DT2H48M5.4775807S</Value></KeyValueOfstringanyType>`

// Values of rules made over HTTP survive an export and the next start, with their types and ticks.
func TestValuesOfRulesAreExportedWithTheirTypes(t *testing.T) {
	a := serveTopology(t, nil, config.ProfileRelaxed)
	createOverHTTP(t, a, "t", "Topic", "")
	createOverHTTP(t, a, "t/Subscriptions/s", "Subscription", "")
	const ns = ` xmlns:i="http://www.w3.org/2001/XMLSchema-instance" xmlns:x="http://www.w3.org/2001/XMLSchema" `
	paths := []string{"t/Subscriptions/s/Rules/properties", "t/Subscriptions/s/Rules/parameters"}
	createOverHTTP(t, a, paths[0], "Rule", `<Filter`+ns+`i:type="CorrelationFilter"><Properties>`+typedValues+`</Properties></Filter>`)
	createOverHTTP(t, a, paths[1], "Rule", `<Filter`+ns+`i:type="SqlFilter"><SqlExpression>a = @at OR b = @SPAN</SqlExpression><Parameters>`+typedValues+
		`</Parameters></Filter><Action`+ns+`i:type="SqlRuleAction"><SqlExpression>SET a = @at</SqlExpression><Parameters>`+typedValues+`</Parameters></Action>`)
	file, warnings := exportOf(t, a)
	if strings.Contains(warnings, "warning") {
		t.Errorf("the export warns: %s", warnings)
	}
	parsed, report, err := config.Load([]string{file}, config.ProfileRelaxed)
	if err != nil || report.Err() != nil || report.Count(config.Warning) > 0 || report.Count(config.Note) != 1 {
		t.Fatalf("what was exported is not good: %v, %v", err, report)
	}
	again := serveTopology(t, parsed, config.ProfileRelaxed)
	for _, path := range paths {
		before, after := shownRule(t, a, path), shownRule(t, again, path)
		if before != after {
			t.Errorf("%s became\n%s\nfrom\n%s", path, after, before)
		}
		for _, typed := range []string{"byte", "short", "unsignedLong", "int", "float"} {
			if !strings.Contains(before, "d6p1:"+typed+`"`) {
				t.Errorf("the API shows no %s", typed)
			}
		}
	}
}

// Entities made over the API with its defaults, under each profile, and at the ends of its ranges, start again under the same profile.
func TestWhatIsExportedStartsAgainUnderItsProfile(t *testing.T) {
	for _, limits := range []config.Profile{config.ProfileRelaxed, config.ProfileStandard, config.ProfilePremium, config.ProfileEmulator} {
		t.Run(string(limits), func(t *testing.T) {
			a := serveTopology(t, nil, limits)
			createOverHTTP(t, a, "q", "Queue", "")
			createOverHTTP(t, a, "t", "Topic", "")
			createOverHTTP(t, a, "t/Subscriptions/s", "Subscription", "")
			least := map[config.Profile]string{config.ProfileEmulator: "PT5S"}[limits]
			if least == "" {
				least = "PT0.001S"
			}
			createOverHTTP(t, a, "least", "Queue", "<LockDuration>"+least+"</LockDuration>")
			if limits == config.ProfileRelaxed {
				createOverHTTP(t, a, "short", "Queue", "<DefaultMessageTimeToLive>PT0.001S</DefaultMessageTimeToLive>")
			}
			file, _ := exportOf(t, a)
			parsed, report, err := config.Load([]string{file}, limits)
			if err != nil || report.Err() != nil {
				t.Fatalf("the start refuses what was exported: %v %v", err, report.Err())
			}
			if again := serveTopology(t, parsed, limits); again.Namespace().Entities().Queues()[0].Path() != a.Namespace().Entities().Queues()[0].Path() {
				t.Error("another queue")
			}
		})
	}
}

// A file accepts the durations that the API accepts, under each profile, so that a file can describe entities made over the API.
func TestFilesAndTheAPITakeTheSameDurations(t *testing.T) {
	durations := []string{"PT0S", "PT0.0000001S", "PT0.0009999S", "PT0.001S", "PT0.9S", "PT1S", "PT4.9S", "PT5S", "PT19S", "PT20S", "PT1M", "PT4M59S", "PT5M",
		"PT5M0.001S", "PT10M", "PT1H", "PT1H1S", "P7D", "P7DT1S", "P400D", "P10675199DT2H48M5.4775807S"}
	for _, limits := range []config.Profile{config.ProfileRelaxed, config.ProfileStandard, config.ProfilePremium, config.ProfileEmulator} {
		for _, property := range []string{"LockDuration", "DefaultMessageTimeToLive", "DuplicateDetectionHistoryTimeWindow", "AutoDeleteOnIdle"} {
			for _, d := range durations {
				_, report := config.Parse("c", []byte(`{"UserConfig": {"Namespaces": [{"Queues": [{"Name": "q", "Properties": {"`+property+`": "`+d+`"}}]}]}}`), limits)
				document, err := atom.Parse([]byte("<QueueDescription><"+property+">"+d+"</"+property+"></QueueDescription>"), "")
				if err != nil {
					t.Fatal(err)
				}
				_, api := atom.ParseQueue(document, limits.Broker())
				// Microsoft's emulator reads no AutoDeleteOnIdle: a file that has a short one starts, with a warning.
				instead := limits == config.ProfileRelaxed && property == "AutoDeleteOnIdle" && report.Count(config.Warning) > 0
				if (report.Err() == nil) != (api == nil || instead) {
					t.Errorf("%s: %s %s: the file says %v, the API %v", limits, property, d, report.Err(), api)
				}
			}
		}
	}
}
