package mgmt

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"minibus/emulator"
)

func topicEntry(children string) string { return entry("TopicDescription", children) }

func subscriptionEntry(children string) string { return entry("SubscriptionDescription", children) }

func ruleBody(children string) string { return entry("RuleDescription", children) }

// newTopicBus has a topic t with a subscription s.
func newTopicBus(t *testing.T) *bus {
	t.Helper()
	b := newBus(t, emulator.ProfileRelaxed)
	wants(t, b.do("PUT", "/t"+v2021, topicEntry("")), 201)
	wants(t, b.do("PUT", "/t/Subscriptions/s"+v2021, subscriptionEntry("")), 201)
	return b
}

func TestChecklist2_AnEmptyTopicDescriptionGetsAllDefaultsInOrder(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	w := b.do("PUT", "/t"+v2024, topicEntry(""))
	wants(t, w, 201, "<author><name>sbemulatorns</name></author>")
	const short = "DefaultMessageTimeToLive MaxSizeInMegabytes RequiresDuplicateDetection DuplicateDetectionHistoryTimeWindow " +
		"EnableBatchedOperations SizeInBytes FilteringMessagesBeforePublishing IsAnonymousAccessible AuthorizationRules Status CreatedAt " +
		"UpdatedAt SupportOrdering AutoDeleteOnIdle EnablePartitioning EntityAvailabilityStatus EnableSubscriptionPartitioning " +
		"EnableExpress MaxMessageSizeInKilobytes"
	if got := elements(w.Body.String(), "TopicDescription"); got != short {
		t.Errorf("created with %s", got)
	}
	w = b.do("GET", "/t"+v2024, "")
	full := strings.Replace(strings.Replace(short, "UpdatedAt", "UpdatedAt AccessedAt", 1), "SupportOrdering", "SupportOrdering CountDetails SubscriptionCount", 1) +
		" SqlFilterCount CorrelationFilterCount"
	if got := elements(w.Body.String(), "TopicDescription"); got != full {
		t.Errorf("shown with %s", got)
	}
	wants(t, w, 200, "<SupportOrdering>true<", "<EnableBatchedOperations>true<", "<AccessedAt>0001-01-01T00:00:00Z<", "<SubscriptionCount>0<")
	wants(t, b.do("PUT", "/p", topicEntry("<EnablePartitioning>true</EnablePartitioning>")), 201, "<SupportOrdering>false<", "<MaxSizeInMegabytes>16384<")
}

func TestChecklist2_AnEmptySubscriptionDescriptionGetsAllDefaultsInOrder(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	wants(t, b.do("PUT", "/t", topicEntry("")), 201)
	w := b.do("PUT", "/t/Subscriptions/s"+v2021, subscriptionEntry(""))
	wants(t, w, 201, "<AccessedAt>0001-01-01T00:00:00</AccessedAt>", "<id>http://localhost:5300/t/Subscriptions/s?api-version=2021-05</id>")
	lacks(t, w, "author")
	const short = "LockDuration RequiresSession DefaultMessageTimeToLive DeadLetteringOnMessageExpiration " +
		"DeadLetteringOnFilterEvaluationExceptions MessageCount MaxDeliveryCount EnableBatchedOperations Status CreatedAt UpdatedAt " +
		"AccessedAt AutoDeleteOnIdle EntityAvailabilityStatus IsClientAffine"
	if got := elements(w.Body.String(), "SubscriptionDescription"); got != short {
		t.Errorf("created with %s", got)
	}
	w = b.do("GET", "/t/Subscriptions/s"+v2021, "")
	if got := elements(w.Body.String(), "SubscriptionDescription"); got != strings.Replace(short, "AccessedAt", "AccessedAt CountDetails", 1) {
		t.Errorf("shown with %s", got)
	}
	wants(t, w, 200, "<id>sb://localhost:5300/t/Subscriptions/s?api-version=2021-05</id>", `href="sb://localhost:5300/t/Subscriptions/s?api-version=2021-05"`,
		"<DeadLetteringOnFilterEvaluationExceptions>true<", "<AccessedAt>2026-03-01T10:00:00Z<")
	lacks(t, b.do("GET", "/t/Subscriptions/s"+v2017, ""), "IsClientAffine")
}

func TestChecklist3_TopicsAndQueuesShareNames(t *testing.T) {
	b := newTopicBus(t)
	wants(t, b.do("PUT", "/T", topicEntry("")), 409, "SubCode=40900.")
	wants(t, b.do("PUT", "/T", queueEntry("")), 409, "SubCode=40900.")
	wants(t, b.do("PUT", "/none", topicEntry(""), ifMatch, "*"), 404, "SubCode=40400.")
	wants(t, b.do("PUT", "/t", queueEntry(""), ifMatch, "*"), 404, "SubCode=40400.")
}

func TestChecklist8_TOP4_DefaultRules(t *testing.T) {
	b := newTopicBus(t)
	wants(t, b.do("GET", "/t/Subscriptions/s/Rules/$Default"+v2021, ""), 200, `<Filter i:type="TrueFilter"><SqlExpression>1=1</SqlExpression>`+
		`<CompatibilityLevel>20</CompatibilityLevel><Parameters/></Filter><Action i:type="EmptyRuleAction"/><CreatedAt>2026-03-01T10:00:00Z</CreatedAt><Name>$Default</Name>`)
	for body, want := range map[string]string{
		`<DefaultRuleDescription><Filter i:type="FalseFilter"/></DefaultRuleDescription>`:                                         `<Filter i:type="FalseFilter"><SqlExpression>1=0<`,
		`<DefaultRuleDescription><Name>$Default</Name></DefaultRuleDescription>`:                                                  `<Filter i:type="TrueFilter">`,
		`<DefaultRuleDescription i:nil="true"/>`:                                                                                  `<Filter i:type="TrueFilter">`,
		`<DefaultRuleDescription><Filter i:type="CorrelationFilter"><Label>x</Label></Filter></DefaultRuleDescription>`:           `<Filter i:type="CorrelationFilter"><Label>x</Label></Filter>`,
		`<DefaultRuleDescription><Filter i:type="SqlFilter"><SqlExpression>a=1</SqlExpression></Filter></DefaultRuleDescription>`: `<SqlExpression>a=1<`,
	} {
		wants(t, b.do("PUT", "/t/subscriptions/x", subscriptionEntry(body)), 201)
		wants(t, b.do("GET", "/t/subscriptions/x/rules/%24default", ""), 200, want)
		lacks(t, b.do("GET", "/t/subscriptions/x", ""), "RuleDescription", "Filter i:type")
		wants(t, b.do("PUT", "/t/subscriptions/x", subscriptionEntry(body), ifMatch, "*"), 200) // ignored on update
		wants(t, b.do("DELETE", "/t/subscriptions/x", ""), 200)
	}
	wants(t, b.do("PUT", "/t/subscriptions/x", subscriptionEntry(`<DefaultRuleDescription><Filter i:type="SqlFilter"><SqlExpression>a ==</SqlExpression>`+
		`</Filter></DefaultRuleDescription>`)), 400, "There was an error parsing the SQL expression")
	wants(t, b.do("PUT", "/t/subscriptions/x", subscriptionEntry(`<DefaultRuleDescription><Name>a/b</Name></DefaultRuleDescription>`)), 400, "RuleName 'a/b' contains character(s)")
	wants(t, b.do("GET", "/t/subscriptions/x", ""), 404)
}

// typed returns a value as .NET writes it.
func typed(key, typeName, text, prefix, ns string) string {
	return fmt.Sprintf(`<KeyValueOfstringanyType><Key>%s</Key><Value i:type="%s:%s" xmlns:%s="%s">%s</Value></KeyValueOfstringanyType>`,
		key, prefix, typeName, prefix, ns, text)
}

func TestChecklist9_TypedValuesRoundTrip(t *testing.T) {
	b := newTopicBus(t)
	const schema, serialized = "http://www.w3.org/2001/XMLSchema", "http://schemas.microsoft.com/2003/10/Serialization/"
	var in, out string
	for _, v := range []struct{ key, typeName, in, out string }{
		{"@bool", "boolean", "true", "true"}, {"@byte", "byte", "-128", "-128"}, {"@date", "dateTime", "2026-01-02T03:04:05.123Z", "2026-01-02T03:04:05.123Z"},
		{"@double", "double", "1.5e3", "1500"}, {"@float", "float", "0.1", "0.1"}, {"@int", "int", "-7", "-7"}, {"@local", "dateTime", "2020-07-05T11:12:13", "2020-07-05T11:12:13"}, {"@long", "long", "9007199254740993", "9007199254740993"},
		{"@short", "short", "-32768", "-32768"}, {"@span", "duration", "P1DT2H", "P1DT2H"}, {"@text", "string", " a &lt; b ", " a &lt; b "},
		{"@u1", "unsignedByte", "255", "255"}, {"@u2", "unsignedShort", "65535", "65535"}, {"@u4", "unsignedInt", "4294967295", "4294967295"},
		{"@u8", "unsignedLong", "18446744073709551615", "18446744073709551615"},
	} {
		in += typed(v.key, v.typeName, v.in, "l28", schema)
		ns := schema
		if v.typeName == "duration" {
			ns = serialized
		}
		out += typed(v.key, v.typeName, v.out, "d6p1", ns)
	}
	in += `<KeyValueOfstringanyType><Key>@untyped</Key><Value>java</Value></KeyValueOfstringanyType>`
	out += typed("@untyped", "string", "java", "d6p1", schema)
	const sql = "<SqlExpression>a &gt; @int</SqlExpression>"
	body := func(parameters string) string {
		return ruleBody(`<Filter i:type="SqlFilter">` + sql + `<Parameters>` + parameters + `</Parameters></Filter><Action i:type="SqlRuleAction"><SqlExpression>SET a = @text</SqlExpression>` +
			`<CompatibilityLevel>20</CompatibilityLevel><Parameters>` + parameters + `</Parameters></Action><Name>r</Name>`)
	}
	want := `<Filter i:type="SqlFilter">` + sql + `<CompatibilityLevel>20</CompatibilityLevel><Parameters>` + out + `</Parameters></Filter>` +
		`<Action i:type="SqlRuleAction"><SqlExpression>SET a = @text</SqlExpression><CompatibilityLevel>20</CompatibilityLevel><Parameters>` + out + `</Parameters></Action>`
	const rule = "/t/Subscriptions/s/Rules/r"
	wants(t, b.do("PUT", rule, body(in)), 201, want)
	wants(t, b.do("GET", rule, ""), 200, want, "<id>sb://localhost:5300"+rule+"</id>")
	wants(t, b.do("PUT", rule, body(in), ifMatch, "*"), 200, want)
	wants(t, b.do("GET", "/t/Subscriptions/s/rules", ""), 200, want, `<link rel="self" href="rules/r"/>`, "<id>http://localhost:5300/t/Subscriptions/s/rules/r</id>")
	for _, bad := range []string{typed("@a", "int", "x", "l28", schema), typed("@a", "guid", "x", "l28", schema), typed("@a", "duration", "x", "l28", schema),
		typed("@a", "byte", "128", "l28", schema), typed("@a", "unsignedInt", "-1", "l28", schema), typed("@a", "float", "x", "l28", schema),
		typed("", "int", "1", "l28", schema), typed("@a", "int", "1", "l28", schema) + typed("@a", "int", "1", "l28", schema), `<KeyValueOfstringanyType><Key>@a</Key></KeyValueOfstringanyType>`} {
		wants(t, b.do("PUT", rule+"2", body(bad)), 400)
	}
}

func TestChecklist9_TOP9_CorrelationFilterOnTheWire(t *testing.T) {
	b := newTopicBus(t)
	const in = `<Filter i:type="CorrelationFilter"><ContentType>ct</ContentType><Label>l</Label><CorrelationId>c</CorrelationId><Properties>` +
		`<KeyValueOfstringanyType><Key>n</Key><Value i:type="d6p1:int" xmlns:d6p1="http://www.w3.org/2001/XMLSchema">3</Value></KeyValueOfstringanyType></Properties></Filter>`
	w := b.do("PUT", "/t/Subscriptions/s/Rules/c", ruleBody(in))
	wants(t, w, 201, `<Filter i:type="CorrelationFilter"><CorrelationId>c</CorrelationId><Label>l</Label><ContentType>ct</ContentType><Properties>`)
	lacks(t, w, "SqlExpression")
	// The filter tests an empty element, but not a nil or absent one; without any it selects everything.
	const empty = `<Filter i:type="CorrelationFilter"><To></To><Label/><MessageId i:nil="true"/></Filter>`
	const shown = `<Filter i:type="CorrelationFilter"><To></To><Label></Label></Filter>`
	wants(t, b.do("PUT", "/t/Subscriptions/s/Rules/e", ruleBody(empty)), 201, shown)
	wants(t, b.do("GET", "/t/Subscriptions/s/Rules/e", ""), 200, shown)
	wants(t, b.do("PUT", "/t/Subscriptions/s/Rules/all", ruleBody(`<Filter i:type="CorrelationFilter"/>`)), 201, `<Filter i:type="CorrelationFilter"></Filter>`)
	for _, bad := range []string{`<Filter i:type="DateFilter"/>`, `<Filter/>`, `<Action i:type="Other"/>`, `<Filter i:type="SqlFilter"/>`} {
		wants(t, b.do("PUT", "/t/Subscriptions/s/Rules/bad", ruleBody(bad)), 400)
	}
	// Java wrote the type attribute into the wrong namespace, and other prefixes.
	java := `<?xml version="1.0"?><entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml"><RuleDescription ` +
		`xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect" xmlns:wstxns1="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect">` +
		`<Filter wstxns1:type="SqlFilter"><SqlExpression>a = 1</SqlExpression></Filter><Action wstxns1:type="EmptyRuleAction"/><Name>j</Name></RuleDescription></content></entry>`
	wants(t, b.do("PUT", "/t/subscriptions/s/rules/j", java), 201, `<Filter i:type="SqlFilter"><SqlExpression>a = 1<`)
}

func TestChecklist10_ForwardToOfSubscriptions(t *testing.T) {
	b := newTopicBus(t)
	wants(t, b.do("PUT", "/q", queueEntry("")), 201)
	wants(t, b.do("PUT", "/t/Subscriptions/f", subscriptionEntry("<ForwardTo>sb://HOST:5672/Q</ForwardTo>")), 201, "<ForwardTo>sb://host:5672/Q<")
	wants(t, b.do("PUT", "/t/Subscriptions/g", subscriptionEntry("<ForwardTo>sb://h/none</ForwardTo>")), 400, "SubCode=40400. The auto forwarding destination")
	wants(t, b.do("PUT", "/t/Subscriptions/g", subscriptionEntry("<ForwardTo>t/Subscriptions/s</ForwardTo>")), 400, "SubCode=40400.")
	wants(t, b.do("PUT", "/t/Subscriptions/g", subscriptionEntry("<RequiresSession>true</RequiresSession><ForwardTo>q</ForwardTo>")), 400, "Bad Request. ")
	wants(t, b.do("PUT", "/q2", queueEntry("<ForwardTo>t</ForwardTo>")), 201)
}

func TestChecklist11_TOP16_PagesOfRules(t *testing.T) {
	b := newTopicBus(t)
	for _, r := range []string{"b", "a", "D", "c"} {
		wants(t, b.do("PUT", "/t/Subscriptions/s/Rules/"+r, ruleBody("")), 201)
	}
	const list = "/t/Subscriptions/s/rules"
	w := b.do("GET", list+"?$top=3", "")
	wants(t, w, 200, `<title type="text">Rules</title>`, ">$Default<", ">D<", ">a<", `rel="next" href="http://localhost:5300/t/Subscriptions/s/rules?%24skip=3&amp;%24top=3"`)
	lacks(t, w, ">b<", "author")
	w = b.do("GET", list+"?$skip=3&$top=3", "")
	wants(t, w, 200, ">b<", ">c<")
	lacks(t, w, "next", ">a<")
	wants(t, b.do("GET", list+"/?$top=1"+"&api-version=2021-05", ""), 200, `href="$Default?api-version=2021-05"`, "<id>http://localhost:5300/t/Subscriptions/s/rules/$Default?api-version=2021-05</id>")
	wants(t, b.do("GET", "/t/Subscriptions/none/Rules", ""), 404, "Entity 'sbemulatorns:Topic:t|none' was not found.")
	wants(t, b.do("GET", "/none/Subscriptions/s/Rules", ""), 200, "Publicly Listed Services")
}

func TestChecklist11_PagesOfSubscriptions(t *testing.T) {
	b := newTopicBus(t)
	for _, s := range []string{"b", "a"} {
		wants(t, b.do("PUT", "/t/subscriptions/"+s, subscriptionEntry("")), 201)
	}
	w := b.do("GET", "/t/Subscriptions?$top=2&api-version=2017-04", "")
	wants(t, w, 200, `<title type="text">Subscriptions</title>`, "<id>http://localhost:5300/t/Subscriptions/a?api-version=2017-04</id>",
		`<link rel="self" href="Subscriptions/b?api-version=2017-04"/>`, "?%24skip=2&amp;%24top=2&amp;api-version=2017-04", "<CountDetails xmlns:d2p1=")
	lacks(t, w, ">s<", "author")
	lacks(t, b.do("GET", "/t/Subscriptions/?$skip=2&$top=2", ""), "next", ">a<")
	wants(t, b.do("GET", "/none/Subscriptions", ""), 200, "Publicly Listed Services")
	wants(t, b.do("GET", "/t/Subscriptions?$skip=-1", ""), 400)
}

func TestChecklist13_FreshSubscriptionsWereAccessed(t *testing.T) {
	b := newTopicBus(t)
	wants(t, b.do("GET", "/t/Subscriptions", ""), 200, "<AccessedAt>2026-03-01T10:00:00Z<")
	wants(t, b.do("GET", "/$Resources/topics", ""), 200, `<title type="text">Topics</title>`, "<SubscriptionCount>1<")
}

func TestChecklist14_FilterCounts(t *testing.T) {
	b := newTopicBus(t)
	wants(t, b.do("PUT", "/t/Subscriptions/s/Rules/c", ruleBody(`<Filter i:type="CorrelationFilter"><Label>x</Label></Filter>`)), 201)
	wants(t, b.do("PUT", "/t/Subscriptions/s/Rules/q", ruleBody(`<Filter i:type="SqlFilter"><SqlExpression>a=1</SqlExpression></Filter>`)), 201)
	wants(t, b.do("GET", "/t"+v2024, ""), 200, "<SqlFilterCount>2</SqlFilterCount><CorrelationFilterCount>1</CorrelationFilterCount></TopicDescription>")
	lacks(t, b.do("GET", "/t"+v2021, ""), "FilterCount")
}

func TestChecklist15_PathsOfSubscriptionsAndRules(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	wants(t, b.do("PUT", "/a%2Fb", topicEntry("")), 201)
	wants(t, b.do("PUT", "/a/b/SUBSCRIPTIONS/Rules/", subscriptionEntry("")), 201, `<title type="text">Rules</title>`)
	wants(t, b.do("PUT", "/a%2fb/subscriptions/rules/rules/Rules/", ruleBody("")), 201, `<title type="text">Rules</title>`)
	wants(t, b.do("PUT", "/a/b/Subscriptions/Rules/Rules/", ruleBody("<Name>inbody</Name>")), 201, "<Name>inbody</Name>")
	wants(t, b.do("GET", "/A/B/Subscriptions/RULES/Rules/inBody", ""), 200, "<Name>inbody</Name>")
	for _, bad := range []string{"/a/b/Subscriptions/x%2Fy", "/a/b/Subscriptions/x%20y", "/a/b/Subscriptions/$x", "/a/b/Subscriptions/" + strings.Repeat("x", 51)} {
		w := b.do("PUT", bad, subscriptionEntry(""))
		wants(t, w, 400)
		lacks(t, w, "SubCode")
	}
	wants(t, b.do("PUT", "/a/b/Subscriptions/rules/Rules/a%20b", ruleBody("")), 400, "RuleName 'a b' contains character(s) that is not allowed")
	wants(t, b.do("PUT", "/a/b/Subscriptions/rules/Rules/x", queueEntry("")), 400)
	wants(t, b.do("PUT", "/a/b/Subscriptions/x", queueEntry("")), 400)
	wants(t, b.do("PUT", "/a/b/Subscriptions", topicEntry("")), 400, "The specified HTTP verb (PUT) is not valid.")
}

func TestChecklist17_TOP14_DeletingATopicDeletesItsSubscriptions(t *testing.T) {
	b := newTopicBus(t)
	wants(t, b.do("DELETE", "/t/Subscriptions/s/Rules/none", ""), 404, "Entity 'sbemulatorns:Topic:t|s|none' was not found.")
	wants(t, b.do("DELETE", "/t/Subscriptions/none", ""), 404, "Entity 'sbemulatorns:Topic:t|none' was not found.")
	wants(t, b.do("DELETE", "/t", ""), 200)
	wants(t, b.do("GET", "/t/Subscriptions/s", ""), 200, "Publicly Listed Services")
	wants(t, b.do("PUT", "/t", topicEntry("")), 201)
	wants(t, b.do("GET", "/t/Subscriptions/s", ""), 404)
	wants(t, b.do("PUT", "/none/Subscriptions/s/Rules/r", ruleBody("")), 404, "The incoming request is not recognized as a namespace policy put request.")
}

// TestLOCK17_CNT8_SubscriptionUpdates detach the subscription's links before the answer and leave the topic alone.
func TestLOCK17_CNT8_SubscriptionUpdates(t *testing.T) {
	b := newTopicBus(t)
	b.clock.advance(time.Minute)
	var told, topicTold error
	defer b.queue("t/Subscriptions/s").Watch(emulator.Main, func(err error) { told = err })()
	defer b.queue("t").Watch(emulator.Main, func(err error) { topicTold = err })()
	wants(t, b.do("PUT", "/t/Subscriptions/s", subscriptionEntry(""), ifMatch, "*"), 200)
	if told != nil {
		t.Errorf("an update that changes nothing told links %v", told)
	}
	w := b.do("PUT", "/t/Subscriptions/s", subscriptionEntry("<UserMetadata>mine</UserMetadata>"), ifMatch, "*")
	wants(t, w, 200, "<UpdatedAt>2026-03-01T10:01:00Z<")
	if !hasCode(told, emulator.CodeDetached) || topicTold != nil {
		t.Errorf("the links were told %v and %v", told, topicTold)
	}
	if got := w.Header().Get("ETag"); got != "639079560000000000" {
		t.Errorf("ETag %q is not the topic's", got)
	}
	wants(t, b.do("GET", "/t", ""), 200, "<UpdatedAt>2026-03-01T10:00:00Z<")
	told = nil
	wants(t, b.do("PUT", "/t/Subscriptions/s/Rules/$Default", ruleBody(`<Filter i:type="FalseFilter"/>`), ifMatch, "*"), 200)
	if told != nil {
		t.Errorf("a change of rules told links %v", told)
	}
}

// TestTOP8_UpdateOfARuleTakesEffect: the new filter applies to messages sent after the answer.
func TestTOP8_UpdateOfARuleTakesEffect(t *testing.T) {
	b := newTopicBus(t)
	b.send("t", time.Time{})
	wants(t, b.do("PUT", "/t/Subscriptions/s/Rules/$Default", ruleBody(`<Filter i:type="FalseFilter"/>`), ifMatch, "*"), 200)
	b.send("t", time.Time{})
	wants(t, b.do("GET", "/t/Subscriptions/s", ""), 200, "<MessageCount>1<", "<d2p1:ActiveMessageCount>1<")
	wants(t, b.do("PUT", "/t/Subscriptions/s/Rules/$Default", ruleBody(`<Filter i:type="SqlFilter"><SqlExpression>EXISTS(x) OR 1 = 1</SqlExpression></Filter>`), ifMatch, "*"), 200)
	b.send("t", time.Time{})
	b.send("t", b.clock.Now().Add(time.Hour))
	wants(t, b.do("GET", "/t/Subscriptions/s", ""), 200, "<d2p1:ActiveMessageCount>2<", "<d2p1:ScheduledMessageCount>0<")
	wants(t, b.do("GET", "/t", ""), 200, "<d2p1:ScheduledMessageCount>1<", "<d2p1:ActiveMessageCount>0<") // CNT-2
	lacks(t, b.do("GET", "/t", ""), "<SizeInBytes>0<")                                                    // CNT-7
}

// A subscription of JMS clients has the client id in its name, and shows it (JMS-9).
func TestJMS9_ClientAffineSubscriptions(t *testing.T) {
	b := newTopicBus(t)
	const affine, path = "<IsClientAffine>true</IsClientAffine>", "/t/Subscriptions/"
	properties := func(client string) string {
		return affine + "<ClientAffineProperties>" + client + "</ClientAffineProperties>"
	}
	const shared = "<ClientId>app:7</ClientId><IsDurable>true</IsDurable><IsShared>true</IsShared>"
	name := strings.Repeat("long.", 20) + "name$app:7$D"
	shown := []string{properties(shared) + "</SubscriptionDescription>", ">" + name + "</title>"}
	wants(t, b.do("PUT", path+name+v2021, subscriptionEntry(properties(shared))), 201, shown...)
	wants(t, b.do("GET", path+name+v2021, ""), 200, shown...)
	lacks(t, b.do("GET", path+name+v2017, ""), "Affine")
	wants(t, b.do("GET", "/t/Subscriptions"+v2021, ""), 200, "/"+name, properties(shared))
	wants(t, b.do("PUT", path+name+v2021, subscriptionEntry("<UserMetadata>m</UserMetadata>"), ifMatch, "*"), 200, properties(shared), ">m<")
	wants(t, b.do("PUT", path+name+v2021, subscriptionEntry(properties("<ClientId>app:7</ClientId>")), ifMatch, "*"), 400,
		"The value for the ClientAffineProperties property of an existing Subscription cannot be changed.")
	wants(t, b.do("GET", path+name+"/Rules/$Default"+v2021, ""), 200, "TrueFilter")
	// Clients that don't know the property create one by its name.
	wants(t, b.do("PUT", path+"by%24%24D"+v2021, subscriptionEntry("")), 201, properties("<ClientId></ClientId><IsDurable>true</IsDurable><IsShared>false</IsShared>"))
	for _, x := range []struct{ name, body, want string }{
		{"plain", affine, "must be NAME$CLIENTID$D."},
		{"plain", properties("<ClientId>app</ClientId>"), "must be NAME$CLIENTID$D"},
		{"x$app$D", "<IsClientAffine>false</IsClientAffine>", "IsClientAffine is false"},
		{"x$app$D", properties("<ClientId>other</ClientId>"), "say 'other'"},
		{"x$app$D", properties("<ClientId>app</ClientId><IsDurable>no</IsDurable>"), "neither true nor false"},
		{"x$app$ND", affine, "made by its first JMS consumer"},
		{"x$a%20b$D", "", "The client id 'a b' can't be part of a path"},
		{"x$D", "", "contains character(s)"},
		{"$app$D", "", "contains character(s)"},
		{strings.Repeat("x", 255) + "$app$D", "", "exceeds the '260' character limit"},
	} {
		wants(t, b.do("PUT", path+x.name+v2021, subscriptionEntry(x.body)), 400, x.want)
	}
	wants(t, b.do("DELETE", path+strings.ToUpper(name)+v2021, ""), 200)
}

// Settings that are fixed at creation stay if an update omits them, may be repeated, and can't be changed (management-rest 4.2, 4.3).
func TestChecklist4_FixedSettingsOfTopicsAndSubscriptions(t *testing.T) {
	b := newTopicBus(t)
	wants(t, b.do("PUT", "/yes", topicEntry("<EnableSubscriptionPartitioning>true</EnableSubscriptionPartitioning>")), 201)
	wants(t, b.do("PUT", "/t/Subscriptions/yes$app$D"+v2021, subscriptionEntry("<IsClientAffine>true</IsClientAffine>")), 201)
	for _, x := range []struct {
		path, kind, property, old, other string
		entry                            func(string) string
	}{
		{"/t", "Topic", "EnableSubscriptionPartitioning", "false", "true", topicEntry},
		{"/yes", "Topic", "EnableSubscriptionPartitioning", "true", "false", topicEntry},
		{"/t/Subscriptions/s", "Subscription", "IsClientAffine", "false", "true", subscriptionEntry},
		{"/t/Subscriptions/yes$app$D", "Subscription", "IsClientAffine", "true", "false", subscriptionEntry},
	} {
		named := func(value string) string { return "<" + x.property + ">" + value + "</" + x.property + ">" }
		shown := "<" + x.property + ">" + x.old + "<"
		wants(t, b.do("PUT", x.path+v2021, x.entry("<UserMetadata>first</UserMetadata>"), ifMatch, "*"), 200, shown, ">first<")
		wants(t, b.do("PUT", x.path+v2021, x.entry("<UserMetadata>second</UserMetadata>"+named(x.old)), ifMatch, "*"), 200, shown, ">second<")
		wants(t, b.do("PUT", x.path+v2021, x.entry("<UserMetadata>third</UserMetadata>"+named(x.other)), ifMatch, "*"), 400,
			"SubCode=40000. The value for the "+x.property+" property of an existing "+x.kind+" cannot be changed. ")
		wants(t, b.do("GET", x.path+v2021, ""), 200, shown, ">second<")
	}
}
