package atom

import (
	"encoding/xml"
	"errors"
	"slices"
	"strings"
	"testing"

	"minibus/emulator"
)

// node is a document as encoding/xml reads it.
type node struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Text     string     `xml:",chardata"`
	Children []node     `xml:",any"`
}

func (n *node) child(name string) *node {
	for i := range n.Children {
		if n.Children[i].XMLName.Local == name {
			return &n.Children[i]
		}
	}
	return nil
}

// names returns those of the children, in their order.
func (n *node) names() (all []string) {
	for _, c := range n.Children {
		all = append(all, c.XMLName.Local)
	}
	return all
}

// described reads the description in an answer.
func described(t *testing.T, c Content, v View) *node {
	t.Helper()
	var root node
	if err := xml.Unmarshal(Entry{Title: "x", Content: c}.Encode(v), &root); err != nil {
		t.Fatalf("read an answer: %v", err)
	}
	content := root.child("content")
	if content == nil || len(content.Children) != 1 {
		t.Fatalf("the entry has no content: %+v", root)
	}
	return &content.Children[0]
}

// parsed reads a description of a kind as a client sends it.
func parsed(t *testing.T, kind, children string) *Element {
	t.Helper()
	root, err := Parse(wrapped(kind, children), "")
	if err != nil {
		t.Fatalf("%s: %v", children, err)
	}
	d, err := root.Description()
	if err != nil {
		t.Fatalf("%s: %v", children, err)
	}
	return d
}

// created returns the entity that a description makes.
func created(t *testing.T, kind, children string, l emulator.Profile) (Content, error) {
	t.Helper()
	return readAs(parsed(t, kind, children), map[string]Content{
		"QueueDescription": Queue{}, "TopicDescription": Topic{}, "SubscriptionDescription": Subscription{}, "RuleDescription": Rule{},
	}[kind], l)
}

const (
	queue        = "QueueDescription"
	topic        = "TopicDescription"
	subscription = "SubscriptionDescription"
	ruled        = "RuleDescription"
)

// TestAnEmptyDescriptionHasTheServicesDefaults (management-rest 6.2).
func TestAnEmptyDescriptionHasTheServicesDefaults(t *testing.T) {
	never := "P10675199DT2H48M5.4775807S"
	for kind, want := range map[string]map[string]string{
		queue: {
			"LockDuration": "PT1M", "MaxSizeInMegabytes": "1024", "RequiresDuplicateDetection": "false", "RequiresSession": "false",
			"DefaultMessageTimeToLive": never, "DeadLetteringOnMessageExpiration": "false", "DuplicateDetectionHistoryTimeWindow": "PT10M",
			"MaxDeliveryCount": "10", "EnableBatchedOperations": "true", "IsAnonymousAccessible": "false", "Status": "Active",
			"AutoDeleteOnIdle": never, "EnablePartitioning": "false", "EntityAvailabilityStatus": "Available", "EnableExpress": "false",
		},
		topic: {
			"DefaultMessageTimeToLive": never, "MaxSizeInMegabytes": "1024", "RequiresDuplicateDetection": "false",
			"DuplicateDetectionHistoryTimeWindow": "PT10M", "EnableBatchedOperations": "true", "FilteringMessagesBeforePublishing": "false",
			"IsAnonymousAccessible": "false", "Status": "Active", "SupportOrdering": "true", "AutoDeleteOnIdle": never,
			"EnablePartitioning": "false", "EntityAvailabilityStatus": "Available", "EnableSubscriptionPartitioning": "false", "EnableExpress": "false",
		},
		subscription: {
			"LockDuration": "PT1M", "RequiresSession": "false", "DefaultMessageTimeToLive": never, "DeadLetteringOnMessageExpiration": "false",
			"DeadLetteringOnFilterEvaluationExceptions": "true", "MaxDeliveryCount": "10", "Status": "Active", "AutoDeleteOnIdle": never,
			"EntityAvailabilityStatus": "Available", "IsClientAffine": "false", "EnableBatchedOperations": "true",
		},
	} {
		c, err := created(t, kind, "", emulator.ProfileStandard)
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		d := described(t, c, View{Profile: emulator.ProfileStandard, Full: true})
		for name, text := range want {
			if got := d.child(name); got == nil || got.Text != text {
				t.Errorf("%s: %s is %+v, want %q", kind, name, got, text)
			}
		}
		for _, name := range []string{"ForwardTo", "ForwardDeadLetteredMessagesTo", "UserMetadata"} {
			if d.child(name) != nil {
				t.Errorf("%s shows %s, which nobody set", kind, name)
			}
		}
	}
}

// TestWhatAClientSetsIsShown in the service's form.
func TestWhatAClientSetsIsShown(t *testing.T) {
	for _, c := range []struct {
		kind, children, name, want string
	}{
		{queue, "<LockDuration>PT30S</LockDuration>", "LockDuration", "PT30S"},
		{queue, "<LockDuration> PT5M </LockDuration>", "LockDuration", "PT5M"},
		{queue, "<LockDuration>PT0H1M30S</LockDuration>", "LockDuration", "PT1M30S"},
		{queue, "<MaxSizeInMegabytes>5120</MaxSizeInMegabytes>", "MaxSizeInMegabytes", "5120"},
		{queue, "<MaxSizeInMegabytes>2048</MaxSizeInMegabytes><EnablePartitioning>true</EnablePartitioning>", "MaxSizeInMegabytes", "32768"},
		{queue, "<MaxSizeInMegabytes>32768</MaxSizeInMegabytes><EnablePartitioning>true</EnablePartitioning>", "MaxSizeInMegabytes", "32768"},
		{queue, "<RequiresSession>true</RequiresSession>", "RequiresSession", "true"},
		{queue, "<RequiresSession>1</RequiresSession>", "RequiresSession", "true"},
		{queue, "<RequiresSession>TRUE</RequiresSession>", "RequiresSession", "true"},
		{queue, "<RequiresSession>0</RequiresSession>", "RequiresSession", "false"},
		{queue, "<RequiresDuplicateDetection>true</RequiresDuplicateDetection><DuplicateDetectionHistoryTimeWindow>P7D</DuplicateDetectionHistoryTimeWindow>",
			"DuplicateDetectionHistoryTimeWindow", "P7D"},
		{queue, "<DefaultMessageTimeToLive>PT1S</DefaultMessageTimeToLive>", "DefaultMessageTimeToLive", "PT1S"},
		{queue, "<DefaultMessageTimeToLive>P1Y</DefaultMessageTimeToLive>", "DefaultMessageTimeToLive", "P365D"},
		{queue, "<DefaultMessageTimeToLive>P10675199DT2H48M5.4775807S</DefaultMessageTimeToLive>", "DefaultMessageTimeToLive", "P10675199DT2H48M5.4775807S"},
		{queue, "<AutoDeleteOnIdle>PT5M</AutoDeleteOnIdle>", "AutoDeleteOnIdle", "PT5M"},
		{queue, "<AutoDeleteOnIdle>PT5M</AutoDeleteOnIdle><ForwardTo>other</ForwardTo>", "AutoDeleteOnIdle", "P10675199DT2H48M5.4775807S"},
		{queue, "<ForwardTo>other</ForwardTo>", "ForwardTo", "other"},
		{queue, "<ForwardTo>sb://bus.test/other</ForwardTo>", "ForwardTo", "sb://bus.test/other"},
		{queue, "<ForwardDeadLetteredMessagesTo>dead</ForwardDeadLetteredMessagesTo>", "ForwardDeadLetteredMessagesTo", "dead"},
		{queue, "<MaxDeliveryCount>2000</MaxDeliveryCount>", "MaxDeliveryCount", "2000"},
		{queue, "<EnableBatchedOperations>false</EnableBatchedOperations>", "EnableBatchedOperations", "false"},
		{queue, "<Status>disabled</Status>", "Status", "Disabled"},
		{queue, "<Status>SendDisabled</Status>", "Status", "SendDisabled"},
		{queue, "<Status>ReceiveDisabled</Status>", "Status", "ReceiveDisabled"},
		{queue, "<UserMetadata>a &lt; b &amp; ä</UserMetadata>", "UserMetadata", "a < b & ä"},
		{queue, "<EnableExpress>true</EnableExpress>", "EnableExpress", "true"},
		{queue, "<LockDuration i:nil='true'/>", "LockDuration", "PT1M"},
		{topic, "<SupportOrdering>false</SupportOrdering>", "SupportOrdering", "false"},
		{topic, "<EnablePartitioning>true</EnablePartitioning>", "SupportOrdering", "false"},
		{topic, "<EnablePartitioning>true</EnablePartitioning><SupportOrdering>true</SupportOrdering>", "SupportOrdering", "true"},
		{topic, "<FilteringMessagesBeforePublishing>true</FilteringMessagesBeforePublishing>", "FilteringMessagesBeforePublishing", "true"},
		{topic, "<EnableSubscriptionPartitioning>true</EnableSubscriptionPartitioning>", "EnableSubscriptionPartitioning", "true"},
		{topic, "<AutoDeleteOnIdle>P1D</AutoDeleteOnIdle>", "AutoDeleteOnIdle", "P1D"},
		{topic, "<Status>SendDisabled</Status>", "Status", "SendDisabled"},
		{subscription, "<DeadLetteringOnFilterEvaluationExceptions>false</DeadLetteringOnFilterEvaluationExceptions>",
			"DeadLetteringOnFilterEvaluationExceptions", "false"},
		{subscription, "<DeadLetteringOnMessageExpiration>true</DeadLetteringOnMessageExpiration>", "DeadLetteringOnMessageExpiration", "true"},
		{subscription, "<IsClientAffine>true</IsClientAffine>", "IsClientAffine", "true"},
		{subscription, "<MaxDeliveryCount>1</MaxDeliveryCount>", "MaxDeliveryCount", "1"},
		{subscription, "<ForwardTo>other</ForwardTo>", "ForwardTo", "other"},
	} {
		content, err := created(t, c.kind, c.children, emulator.ProfileStandard)
		if err != nil {
			t.Errorf("%s: %v", c.children, err)
			continue
		}
		got := described(t, content, View{Profile: emulator.ProfileStandard, Full: true}).child(c.name)
		if got == nil || got.Text != c.want {
			t.Errorf("%s: %s is shown as %+v, want %q", c.children, c.name, got, c.want)
		}
	}
}

// TestWrongDescriptions are refused with the name of the element, its value and a sub-code where the service has one.
func TestWrongDescriptions(t *testing.T) {
	for _, c := range []struct {
		kind, children string
		limits         emulator.Profile
		want           string
	}{
		{queue, "<LockDuration>5</LockDuration>", emulator.ProfileStandard, "SubCode=40000. The value is not a duration, such as PT30S.\r\nParameter name: LockDuration\r\nActual value was 5. "},
		{queue, "<LockDuration>PT6M</LockDuration>", emulator.ProfileStandard, "SubCode=40000. The supplied lock time exceeds the allowed maximum of '5' minutes. "},
		{queue, "<LockDuration>PT0S</LockDuration>", emulator.ProfileStandard, "SubCode=40000. The value supplied must be between "},
		{queue, "<LockDuration></LockDuration>", emulator.ProfileStandard, "SubCode=40000. The element LockDuration has no value. "},
		{queue, "<MaxDeliveryCount>0</MaxDeliveryCount>", emulator.ProfileStandard, "SubCode=40000. The value must be between 1 and 2147483647.\r\nParameter name: MaxDeliveryCount\r\nActual value was 0. "},
		{queue, "<MaxDeliveryCount>ten</MaxDeliveryCount>", emulator.ProfileStandard, "SubCode=40000. The value is not a whole number.\r\nParameter name: MaxDeliveryCount\r\nActual value was ten. "},
		{queue, "<RequiresSession>yes</RequiresSession>", emulator.ProfileStandard, "SubCode=40000. The value is neither true nor false.\r\nParameter name: RequiresSession\r\nActual value was yes. "},
		{queue, "<MaxSizeInMegabytes>-1</MaxSizeInMegabytes>", emulator.ProfileStandard, "SubCode=40000. The value must be greater than zero.\r\nParameter name: MaxSizeInMegabytes\r\nActual value was -1. "},
		{queue, "<MaxSizeInMegabytes>1000</MaxSizeInMegabytes>", emulator.ProfileStandard, "SubCode=40000. The specified value 1000 is invalid. The property 'MaxSizeInMegabytes', must be one of the following values: 1024;2048;3072;4096;5120. "},
		{queue, "<Status>Renaming</Status>", emulator.ProfileStandard, "SubCode=40000. The status must be Active, Disabled, SendDisabled or ReceiveDisabled.\r\nParameter name: Status\r\nActual value was Renaming. "},
		{queue, "<IsAnonymousAccessible>true</IsAnonymousAccessible>", emulator.ProfileStandard, "SubCode=40000. Anonymous access is not available. "},
		{queue, "<ForwardTo>sb://bus.test/</ForwardTo>", emulator.ProfileStandard, "SubCode=40000. The forwarding destination 'sb://bus.test/' names no entity. "},
		{queue, "<EnableExpress>true</EnableExpress>", emulator.ProfilePremium, "SubCode=40000. EnableExpress is not available in the Premium tier. "},
		{queue, "<EnablePartitioning>true</EnablePartitioning>", emulator.ProfilePremium, "SubCode=40000. Partitioning of single entities is not available under this profile of limits. "},
		{queue, "<EnableExpress>true</EnableExpress><RequiresDuplicateDetection>true</RequiresDuplicateDetection>", emulator.ProfileStandard, "SubCode=40000. Both DelayedPersistence and RequiresDuplicateDetection property can't be enabled together. "},
		{queue, "<MaxMessageSizeInKilobytes>500</MaxMessageSizeInKilobytes>", emulator.ProfilePremium, "SubCode=40000. The property value for 'MaxMessageSizeInKilobytes' must be between 1024 and 102400."},
		{queue, "<DuplicateDetectionHistoryTimeWindow>P8D</DuplicateDetectionHistoryTimeWindow>", emulator.ProfileStandard, "SubCode=40000. The value supplied must be between "},
		{topic, "<AutoDeleteOnIdle>PT1M</AutoDeleteOnIdle>", emulator.ProfileStandard, "SubCode=40000. The value supplied must be between "},
		{subscription, "<MaxDeliveryCount>-1</MaxDeliveryCount>", emulator.ProfileStandard, "The value must be between 1 and 2147483647.\r\nParameter name: MaxDeliveryCount\r\nActual value was -1. "},
		{subscription, "<LockDuration>x</LockDuration>", emulator.ProfileStandard, "The value is not a duration, such as PT30S.\r\nParameter name: LockDuration\r\nActual value was x. "},
		{subscription, `<DefaultRuleDescription><Filter i:type="SqlFilter"/></DefaultRuleDescription>`, emulator.ProfileStandard, "The SQL expression is empty. "},
		{ruled, `<Filter i:type="OddFilter"/>`, emulator.ProfileStandard, "The filter type 'OddFilter' is not supported. "},
		{ruled, `<Filter i:type="TrueFilter"/><Action i:type="OddAction"/>`, emulator.ProfileStandard, "The rule action type 'OddAction' is not supported. "},
		{ruled, `<Filter i:type="SqlFilter"><SqlExpression> </SqlExpression></Filter>`, emulator.ProfileStandard, "The SQL expression is empty. "},
		{ruled, parameter("@a", "int", "x"), emulator.ProfileStandard, "The value 'x' of '@a' is not of the type int. "},
		{ruled, parameter("@a", "guid", "00112233-4455-6677-8899-aabbccddeeff"), emulator.ProfileStandard, "The value '00112233-4455-6677-8899-aabbccddeeff' of '@a' is not of the type guid. "},
		{ruled, parameter("", "int", "1"), emulator.ProfileStandard, "A parameter has no name. "},
		{ruled, `<Filter i:type="SqlFilter"><SqlExpression>a=@a</SqlExpression><Parameters><KeyValueOfstringanyType><Key>@a</Key></KeyValueOfstringanyType></Parameters></Filter>`,
			emulator.ProfileStandard, "The parameter '@a' has no value. "},
	} {
		_, err := created(t, c.kind, c.children, c.limits)
		var e *Error
		if !errors.As(err, &e) || !strings.HasPrefix(e.Error(), c.want) {
			t.Errorf("%s: %q\nwant %q", c.children, err, c.want)
		}
	}
}

// parameter is a SQL filter with one parameter.
func parameter(key, typeName, text string) string {
	return `<Filter i:type="SqlFilter"><SqlExpression>a=@a</SqlExpression><Parameters><KeyValueOfstringanyType><Key>` + key +
		`</Key><Value xmlns:x="http://www.w3.org/2001/XMLSchema" i:type="x:` + typeName + `">` + text + `</Value></KeyValueOfstringanyType></Parameters></Filter>`
}

// TestParametersKeepTheirTypes as the documents name them.
func TestParametersKeepTheirTypes(t *testing.T) {
	for _, c := range []struct{ typeName, text, shownType, shown string }{
		{"int", "5", "int", "5"},
		{"int", "5000000000", "long", "5000000000"}, // Go's client writes all integers as int
		{"long", "-9223372036854775808", "long", "-9223372036854775808"},
		{"short", "-1", "short", "-1"},
		{"unsignedByte", "255", "unsignedByte", "255"},
		{"unsignedLong", "18446744073709551615", "unsignedLong", "18446744073709551615"},
		{"double", "1.5", "double", "1.5"},
		{"double", "INF", "double", "INF"},
		{"double", "-INF", "double", "-INF"},
		{"float", "0.25", "float", "0.25"},
		{"decimal", "12.50", "decimal", "12.50"},
		{"boolean", "true", "boolean", "true"},
		{"boolean", "0", "boolean", "false"},
		{"string", "a &lt; b", "string", "a < b"},
		{"dateTime", "2026-03-01T10:00:00Z", "dateTime", "2026-03-01T10:00:00Z"},
		{"dateTime", "2026-03-01T10:00:00.5", "dateTime", "2026-03-01T10:00:00.5"},
		{"duration", "P1DT2H", "duration", "P1DT2H"},
	} {
		content, err := created(t, ruled, parameter("@a", c.typeName, c.text), emulator.ProfileStandard)
		if err != nil {
			t.Errorf("%s %s: %v", c.typeName, c.text, err)
			continue
		}
		d := described(t, content, View{Profile: emulator.ProfileStandard})
		pair := d.child("Filter").child("Parameters").child("KeyValueOfstringanyType")
		value := pair.child("Value")
		i := slices.IndexFunc(value.Attrs, func(a xml.Attr) bool { return a.Name.Local == "type" })
		if pair.child("Key").Text != "@a" || value.Text != c.shown || i < 0 || value.Attrs[i].Value != "d6p1:"+c.shownType {
			t.Errorf("%s %s is shown as %+v", c.typeName, c.text, value)
		}
	}
}

// TestRulesAreShownAsClientsReadThem: all four children, and a SqlExpression for SQL filters alone.
func TestRulesAreShownAsClientsReadThem(t *testing.T) {
	for _, c := range []struct{ children, filter, sql, action string }{
		{"", "TrueFilter", "1=1", ""},
		{`<Filter i:type="TrueFilter"><SqlExpression>1=1</SqlExpression></Filter>`, "TrueFilter", "1=1", ""},
		{`<Filter i:type="FalseFilter"/>`, "FalseFilter", "1=0", ""},
		{`<Filter i:type="SqlFilter"><SqlExpression>a = 'b'</SqlExpression></Filter>`, "SqlFilter", "a = 'b'", ""},
		{`<Filter i:type="SqlFilter"><SqlExpression>a=1</SqlExpression></Filter><Action i:type="SqlRuleAction"><SqlExpression>SET b=2</SqlExpression></Action>`,
			"SqlFilter", "a=1", "SET b=2"},
		{`<Filter i:type="CorrelationFilter"><Label>red</Label></Filter><Action i:type="EmptyRuleAction"/>`, "CorrelationFilter", "", ""},
	} {
		content, err := created(t, ruled, c.children+"<Name>r</Name>", emulator.ProfileStandard)
		if err != nil {
			t.Errorf("%s: %v", c.children, err)
			continue
		}
		d := described(t, content, View{Profile: emulator.ProfileStandard})
		if want := []string{"Filter", "Action", "CreatedAt", "Name"}; !slices.Equal(d.names(), want) {
			t.Errorf("%s has %v, want %v", c.children, d.names(), want)
			continue
		}
		filter, action := d.child("Filter"), d.child("Action")
		if !hasType(filter, c.filter) || !hasType(action, map[bool]string{true: "EmptyRuleAction", false: "SqlRuleAction"}[c.action == ""]) {
			t.Errorf("%s: the filter has %v, the action %v", c.children, filter.Attrs, action.Attrs)
		}
		for _, x := range []struct {
			n    *node
			want string
		}{{filter, c.sql}, {action, c.action}} {
			switch sql := x.n.child("SqlExpression"); {
			case x.want == "" && sql != nil, x.want != "" && (sql == nil || sql.Text != x.want || x.n.child("CompatibilityLevel").Text != "20"):
				t.Errorf("%s: %+v, want %q", c.children, x.n, x.want)
			}
		}
		if d.child("Name").Text != "r" {
			t.Errorf("%s: the name is %q", c.children, d.child("Name").Text)
		}
	}
}

func hasType(n *node, want string) bool {
	return slices.ContainsFunc(n.Attrs, func(a xml.Attr) bool { return a.Name.Local == "type" && a.Value == want })
}

// TestCorrelationFiltersKeepTheServicesOrder, empty texts included.
func TestCorrelationFiltersKeepTheServicesOrder(t *testing.T) {
	content, err := created(t, ruled, `<Filter i:type="CorrelationFilter"><ContentType>c</ContentType><Label></Label><To>t</To><CorrelationId>i</CorrelationId>`+
		`<MessageId i:nil="true"/></Filter>`, emulator.ProfileStandard)
	if err != nil {
		t.Fatal(err)
	}
	filter := described(t, content, View{Profile: emulator.ProfileStandard}).child("Filter")
	if want := []string{"CorrelationId", "To", "Label", "ContentType"}; !slices.Equal(filter.names(), want) {
		t.Errorf("%v, want %v", filter.names(), want)
	}
}

// TestSESS1_DUP1_PART1_WhatIsFixedAtCreation can't be changed by an update, and stays if the update leaves it out.
func TestSESS1_DUP1_PART1_WhatIsFixedAtCreation(t *testing.T) {
	old := emulator.QueueOptions{RequiresSession: true, RequiresDuplicateDetection: true, EnablePartitioning: true}
	for children, want := range map[string]string{
		"": "",
		"<RequiresSession>true</RequiresSession>":                        "",
		"<MaxDeliveryCount>3</MaxDeliveryCount>":                         "",
		"<RequiresSession>false</RequiresSession>":                       "SubCode=40000. The value for the RequiresSession property of an existing Queue cannot be changed. ",
		"<RequiresDuplicateDetection>false</RequiresDuplicateDetection>": "SubCode=40000. The value for the RequiresDuplicateDetection property of an existing Queue cannot be changed. ",
		"<EnablePartitioning>false</EnablePartitioning>":                 "SubCode=40000. Partitioning cannot be changed for Queue. ",
		"<ForwardTo>q</ForwardTo>":                                       "SubCode=40000. Bad Request. ",
	} {
		q, err := ParseQueue(parsed(t, queue, children), emulator.ProfileStandard)
		if err != nil {
			t.Fatalf("%s: %v", children, err)
		}
		o, err := q.Update(old)
		if want == "" && (err != nil || !o.RequiresSession || !o.RequiresDuplicateDetection || !o.EnablePartitioning) {
			t.Errorf("%s: %+v, %v", children, o, err)
		}
		if want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", children, err, want)
		}
	}
	oldTopic := emulator.TopicOptions{RequiresDuplicateDetection: true}
	for children, want := range map[string]string{
		"": "",
		"<RequiresDuplicateDetection>false</RequiresDuplicateDetection>":        "SubCode=40000. The value for the RequiresDuplicateDetection property of an existing Topic cannot be changed. ",
		"<EnablePartitioning>true</EnablePartitioning>":                         "SubCode=40000. Partitioning cannot be changed for Topic. ",
		"<EnableSubscriptionPartitioning>true</EnableSubscriptionPartitioning>": "SubCode=40000. The value for the EnableSubscriptionPartitioning property of an existing Topic cannot be changed. ",
	} {
		x, err := ParseTopic(parsed(t, topic, children), emulator.ProfileStandard)
		if err != nil {
			t.Fatalf("%s: %v", children, err)
		}
		if _, err := x.Update(oldTopic); (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %q", children, err, want)
		}
	}
}

// TestAuthorizationRulesAreKept by an update that has none, and keep the keys that it leaves out.
func TestAuthorizationRulesAreKept(t *testing.T) {
	rule := func(name, right, keys string) string {
		return `<AuthorizationRules><AuthorizationRule i:type="SharedAccessAuthorizationRule"><ClaimType>SharedAccessKey</ClaimType><ClaimValue>None</ClaimValue>` +
			`<Rights><AccessRights>` + right + `</AccessRights></Rights><KeyName>` + name + `</KeyName>` + keys + `</AuthorizationRule></AuthorizationRules>`
	}
	q, err := ParseQueue(parsed(t, queue, rule("k", "Send", "<PrimaryKey>cHJpbWFyeQ==</PrimaryKey><SecondaryKey>c2Vjb25k</SecondaryKey>")), emulator.ProfileStandard)
	if err != nil {
		t.Fatal(err)
	}
	old, err := q.Create()
	if err != nil || len(old.Admin.AuthorizationRules) != 1 || old.Admin.AuthorizationRules[0].PrimaryKey != "cHJpbWFyeQ==" {
		t.Fatalf("%+v, %v", old.Admin.AuthorizationRules, err)
	}
	for children, want := range map[string]string{
		"":                      "cHJpbWFyeQ==",
		rule("K", "Listen", ""): "cHJpbWFyeQ==",
		"<AuthorizationRules/>": "none",
	} {
		q, err := ParseQueue(parsed(t, queue, children), emulator.ProfileStandard)
		if err != nil {
			t.Fatalf("%s: %v", children, err)
		}
		o, err := q.Update(old)
		got := "none"
		if len(o.Admin.AuthorizationRules) == 1 {
			got = o.Admin.AuthorizationRules[0].PrimaryKey
		}
		if err != nil || got != want {
			t.Errorf("%s: the key is %s, %v; want %s", children, got, err, want)
		}
	}
	for children, want := range map[string]string{
		rule("", "Send", ""):    "SubCode=40000. The name of an authorization rule must have 1 to 256 characters.",
		rule("k", "Manage", ""): "SubCode=40000. Manage permission should also include Send and Listen.",
		rule("k", "Dance", ""):  "SubCode=40000. ",
		strings.Replace(rule("k", "Send", ""), "<AccessRights>Send</AccessRights>", "", 1): "SubCode=40000. An authorization rule must have at least one right.",
	} {
		if _, err := ParseQueue(parsed(t, queue, children), emulator.ProfileStandard); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %q", children, err, want)
		}
	}
}

// TestNames under the profiles.
func TestNames(t *testing.T) {
	const relaxed, standard = emulator.ProfileRelaxed, emulator.ProfileStandard
	long := strings.Repeat("x", 300)
	for _, c := range []struct {
		name   string
		limits emulator.Profile
		path   bool // of a queue or topic; else of a subscription
		ok     bool
	}{
		{"orders", standard, true, true}, {"a/b/c", standard, true, true}, {"a.b-c_d", standard, true, true}, {"", standard, true, false},
		{"a b", standard, true, false}, {"$a", standard, true, false}, {"a/$b", standard, true, false}, {"..", relaxed, true, false},
		{"a/./b", relaxed, true, false}, {"a\x01", relaxed, true, false}, {long, relaxed, true, false}, {strings.Repeat("x", 260), standard, true, true},
		{"s", standard, false, true}, {"a/b", standard, false, false}, {strings.Repeat("x", 50), standard, false, true},
		{strings.Repeat("x", 51), standard, false, false}, {"$s", relaxed, false, false},
	} {
		err := CheckSubscription(c.name, c.limits)
		if c.path {
			err = CheckPath(c.name, c.limits)
		}
		if (err == nil) != c.ok {
			t.Errorf("%.20q: %v", c.name, err)
		}
	}
}

// TestDocuments that are no entries, or are dangerous, are refused.
func TestDocuments(t *testing.T) {
	deep := strings.Repeat("<a>", 40) + strings.Repeat("</a>", 40)
	for text, want := range map[string]string{
		"":                 "could not be read",
		"not xml":          "could not be read",
		"<a>":              "could not be read",
		"<a></b>":          "could not be read",
		"<!DOCTYPE a><a/>": "",
		"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>": "",
		deep: "",
		"<a>" + strings.Repeat("<b/>", 20001) + "</a>": "",
		"<a/><b/>": "",
	} {
		root, err := Parse([]byte(text), "")
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(e.Text, want) {
			t.Errorf("%.40q: %+v, %v", text, root, err)
		}
	}
	for _, text := range []string{"<a/>", "<entry/>", "<entry><content/></entry>", `<feed><content><x/></content></feed>`} {
		root, err := Parse([]byte(text), "")
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if d, err := root.Description(); err == nil {
			t.Errorf("%s has the description %+v", text, d)
		}
	}
	root, err := Parse([]byte("\xff\xfe<\x00a\x00>\x00\xe4\x00<\x00/\x00a\x00>\x00"), "")
	if err != nil || root.Text() != "ä" {
		t.Errorf("UTF-16: %v, %v", root, err)
	}
	root, err = Parse([]byte("<a>\xe4</a>"), "iso-8859-1")
	if err != nil || root.Text() != "ä" {
		t.Errorf("Latin 1: %v, %v", root, err)
	}
}
