package mgmt

import "testing"

// Times and durations of rules have .NET's ticks of 100 ns, seven digits. They come back as they were given, wherever
// a rule has values, even after a restart.
func TestTOP9_ValuesOfRulesKeepTheirTicks(t *testing.T) {
	b := newTopicBus(t)
	const schema, serialized = "http://www.w3.org/2001/XMLSchema", "http://schemas.microsoft.com/2003/10/Serialization/"
	var in, out string
	for _, v := range []struct{ key, typeName, in, out string }{
		{"after", "dateTime", "2026-01-02T03:04:05.1234567Z", "2026-01-02T03:04:05.1234567Z"},
		{"before1970", "dateTime", "1969-12-31T23:59:59.9999999Z", "1969-12-31T23:59:59.9999999Z"},
		{"first", "dateTime", "0001-01-01T00:00:00.0000001Z", "0001-01-01T00:00:00.0000001Z"},
		{"last", "dateTime", "9999-12-31T23:59:59.9999999Z", "9999-12-31T23:59:59.9999999Z"},
		{"least", "duration", "-P10675199DT2H48M5.4775808S", "-P10675199DT2H48M5.4775808S"},
		{"local", "dateTime", "2020-07-05T11:12:13.0000001", "2020-07-05T11:12:13.0000001"},
		{"longest", "duration", "P10675199DT2H48M5.4775807S", "P10675199DT2H48M5.4775807S"},
		{"millis", "dateTime", "2026-01-02T03:04:05.12Z", "2026-01-02T03:04:05.12Z"},
		{"shortest", "duration", "PT0.0000001S", "PT0.0000001S"},
		{"span", "duration", "-P1DT2H3M4.0000005S", "-P1DT2H3M4.0000005S"},
		{"zeros", "dateTime", "2026-01-02T03:04:05.123456700Z", "2026-01-02T03:04:05.1234567Z"},
		{"zoned", "dateTime", "2026-01-02T05:04:05.7654321+02:00", "2026-01-02T03:04:05.7654321Z"},
	} {
		in += typed(v.key, v.typeName, v.in, "l28", schema)
		ns := schema
		if v.typeName == "duration" {
			ns = serialized
		}
		out += typed(v.key, v.typeName, v.out, "d6p1", ns)
	}
	filter := func(values string) string {
		return `<SqlExpression>a = @after</SqlExpression><CompatibilityLevel>20</CompatibilityLevel><Parameters>` + values + `</Parameters>`
	}
	action := func(values string) string {
		return `<SqlExpression>SET a = @span</SqlExpression><CompatibilityLevel>20</CompatibilityLevel><Parameters>` + values + `</Parameters>`
	}
	rules := map[string][2]string{
		"parameters": {`<Filter i:type="SqlFilter">` + filter(in) + `</Filter><Action i:type="SqlRuleAction">` + action(in) + `</Action>`,
			`<Filter i:type="SqlFilter">` + filter(out) + `</Filter><Action i:type="SqlRuleAction">` + action(out) + `</Action>`},
		"properties": {`<Filter i:type="CorrelationFilter"><Properties>` + in + `</Properties></Filter>`,
			`<Filter i:type="CorrelationFilter"><Properties>` + out + `</Properties></Filter>`},
	}
	for name, r := range rules {
		wants(t, b.do("PUT", "/t/Subscriptions/s/Rules/"+name, ruleBody(r[0])), 201, r[1])
	}
	for range 2 {
		for name, r := range rules {
			wants(t, b.do("GET", "/t/Subscriptions/s/Rules/"+name, ""), 200, r[1])
		}
		b.restart()
	}
}

// A decimal is one for AMQP's clients too, and keeps its places.
func TestTOP9_DecimalsOfRulesComeBack(t *testing.T) {
	b := newTopicBus(t)
	const schema = "http://www.w3.org/2001/XMLSchema"
	filter := func(prefix string) string {
		return `<Filter i:type="CorrelationFilter"><Properties>` + typed("debt", "decimal", "-0.000001", prefix, schema) +
			typed("price", "decimal", "12.50", prefix, schema) + `</Properties></Filter>`
	}
	wants(t, b.do("PUT", "/t/Subscriptions/s/Rules/r", ruleBody(filter("l28"))), 201, filter("d6p1"))
	b.restart()
	wants(t, b.do("GET", "/t/Subscriptions/s/Rules/r", ""), 200, filter("d6p1"))
}

// What .NET has no value for is refused, and not changed to something near.
func TestTOP9_ValuesThatCannotBeKeptAreRefused(t *testing.T) {
	b := newTopicBus(t)
	for _, v := range [][2]string{{"dateTime", "2026-01-02T03:04:05.123456789Z"}, {"duration", "P10675200D"}, {"double", "1e999"}, {"decimal", "1e5"}, {"decimal", "79228162514264337593543950336"}, {"boolean", "True"}, {"int", "x"}, {"what", "x"}} {
		w := b.do("PUT", "/t/Subscriptions/s/Rules/r", ruleBody(`<Filter i:type="CorrelationFilter"><Properties>`+
			typed("a", v[0], v[1], "l28", "http://www.w3.org/2001/XMLSchema")+`</Properties></Filter>`))
		wants(t, w, 400, "The value '"+v[1]+"' of 'a' is not of the type "+v[0])
	}
}
