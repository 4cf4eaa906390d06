package config

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"minibus/emulator"
	"minibus/internal/amqp"
)

// Values of rules have the types that the file gives them.
func TestTOP9_ValuesHaveTheirTypes(t *testing.T) {
	span := func(ticks int64) any {
		return amqp.Described{Descriptor: amqp.Symbol("com.microsoft:timespan"), Value: ticks}
	}
	want := emulator.Values{}
	var members []string
	for i, v := range []struct {
		json string
		want any
	}{
		{`"it's"`, "it's"}, {`true`, true}, {`-7`, int64(-7)}, {`-9223372036854775808`, int64(math.MinInt64)}, {`7.0`, 7.0}, {`1E1`, 10.0},
		{`{"Type": "string", "Value": "x"}`, "x"}, {`{"Type": "boolean", "Value": true}`, true}, {`{"Type": "boolean", "Value": "false"}`, false},
		{`{"type": "int", "VALUE": -7}`, int32(-7)}, {`{"Type": "int", "Value": "-7"}`, int32(-7)}, {`{"Type": "long", "Value": 7}`, int64(7)},
		{`{"Type": "double", "Value": 7}`, 7.0}, {`{"Type": "double", "Value": "-INF"}`, math.Inf(-1)}, {`{"Type": "float", "Value": 0.1}`, float32(0.1)},
		{`{"Type": "byte", "Value": -128}`, int8(-128)}, {`{"Type": "short", "Value": 1}`, int16(1)}, {`{"Type": "unsignedByte", "Value": 255}`, uint8(255)},
		{`{"Type": "unsignedShort", "Value": 1}`, uint16(1)}, {`{"Type": "unsignedInt", "Value": 1}`, uint32(1)},
		{`{"Type": "unsignedLong", "Value": 18446744073709551615}`, uint64(math.MaxUint64)},
		{`{"Type": "decimal", "Value": 12.5}`, amqp.Decimal128{0x0c, 0x3e, 15: 125}}, {`{"Type": "decimal", "Value": "-0.000001"}`, amqp.Decimal128{0x8c, 0x34, 15: 1}},
		{`{"Type": "guid", "Value": "6ba7b810-9dad-11d1-80b4-00c04fd430c8"}`,
			amqp.UUID{0x6b, 0xa7, 0xb8, 0x10, 0x9d, 0xad, 0x11, 0xd1, 0x80, 0xb4, 0, 0xc0, 0x4f, 0xd4, 0x30, 0xc8}},
		{`{"Type": "dateTime", "Value": "2026-11-22T10:00:00.123Z"}`, amqp.TimestampOf(time.Date(2026, 11, 22, 10, 0, 0, 123e6, time.UTC))},
		{`{"Type": "dateTime", "Value": "2026-11-22T12:00:00+02:00"}`, amqp.TimestampOf(time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC))},
		{`{"Type": "dateTime", "Value": "2026-11-22T10:00:00.1234567"}`, emulator.UnzonedTime(time.Date(2026, 11, 22, 10, 0, 0, 123_456_700, time.UTC))},
		{`{"Type": "duration", "Value": "PT0.0000001S"}`, span(1)}, {`{"Type": "duration", "Value": "-P1DT1S"}`, span(-864_010_000_000)},
		{`{"Type": "duration", "Value": "P10675199DT2H48M5.4775807S"}`, span(math.MaxInt64)},
	} {
		name := fmt.Sprintf("@v%d", i)
		members, want[name] = append(members, `"`+name+`": `+v.json), v.want
	}
	values := `{` + strings.Join(members, ",") + `}`
	topology, report := parse(t, wrap(`"Topics": [{"Name": "t", "Subscriptions": [{"Name": "s", "Rules": [
		{"Name": "c", "Properties": {"FilterType": "Correlation", "CorrelationFilter": {"Properties": `+values+`}}},
		{"Name": "p", "Properties": {"FilterType": "Sql", "SqlFilter": {"SqlExpression": "a = @v1 AND b = @V2", "Parameters": `+values+`},
			"Action": {"SqlExpression": "SET a = @v3", "Parameters": `+values+`}}}]}]}]`), ProfileRelaxed)
	rules := topology.Entities[0].Topic.Subscriptions[0].Rules
	for what, got := range map[string]emulator.Values{"properties": rules[0].Correlation.Properties, "parameters": rules[1].Parameters, "of the action": rules[1].ActionParameters} {
		for name := range want {
			if !reflect.DeepEqual(got[name], want[name]) {
				t.Errorf("%s: %s is %T %v, want %T %v", what, name, got[name], got[name], want[name], want[name])
			}
		}
	}
	if f := report.Findings; len(f) != 1 || f[0].Severity != Note || !strings.Contains(f[0].Found, "values that Microsoft's emulator does not take ($.UserConfig") {
		t.Errorf("findings %v", f)
	}
}

// There is no note about values that Microsoft's emulator accepts too.
func TestDEC5_PlainValuesAreNotNoted(t *testing.T) {
	_, report := parse(t, typedProperty(`"2026-11-22T10:00:00Z", "n": 1, "b": true`), ProfileRelaxed)
	if len(report.Findings) > 0 {
		t.Errorf("findings %v", report.Findings)
	}
}

// A misspelt key is named.
func TestKeysOfTypedValuesAreChecked(t *testing.T) {
	_, report := parse(t, typedProperty(`{"Type": "int", "Value": 1, "Unit": "m"}`), ProfileRelaxed)
	if report.Count(Warning) != 1 || !strings.Contains(report.Findings[0].String(), `found the unknown key "Unit", it is ignored`) {
		t.Errorf("findings %v", report.Findings)
	}
}
