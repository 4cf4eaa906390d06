package arm

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"minibus/emulator"
	"minibus/internal/sas"
)

const never = "P10675199DT2H48M5.4775807S"

// everyProperty has a value for each property that a body can have, other than its default.
var everyProperty = object{
	"lockDuration": "PT30S", "maxDeliveryCount": 3, "requiresSession": true, "deadLetteringOnMessageExpiration": true,
	"deadLetteringOnFilterEvaluationExceptions": false, "defaultMessageTimeToLive": "P1Y2M3DT3H11M2S", "autoDeleteOnIdle": "PT1H",
	"requiresDuplicateDetection": true, "duplicateDetectionHistoryTimeWindow": "PT1M", "enablePartitioning": true, "maxSizeInMegabytes": 2048,
	"maxMessageSizeInKilobytes": 256, "enableBatchedOperations": false, "enableExpress": false, "supportOrdering": false, "status": "sendDisabled",
	"forwardDeadLetteredMessagesTo": "target", "userMetadata": "u", "isClientAffine": false,
	"countDetails": object{}, "messageCount": 7, "unknown": []any{1}, "createdAt": "x", "clientAffineProperties": object{},
}

// TestEntitiesShowWhatWasPut, in the service's form, and what was left out with its default, also after a restart.
func TestEntitiesShowWhatWasPut(t *testing.T) {
	h := withOrders(t)
	h.put(orders+"/queues/target", "").status(http.StatusOK)
	h.put(orders+"/topics/parent", object{}).status(http.StatusOK)
	set := map[string]any{
		"lockDuration": "PT30S", "maxDeliveryCount": 3, "requiresSession": true, "deadLetteringOnMessageExpiration": true,
		"deadLetteringOnFilterEvaluationExceptions": false, "defaultMessageTimeToLive": "P428DT3H11M2S", "autoDeleteOnIdle": "PT1H",
		"requiresDuplicateDetection": true, "duplicateDetectionHistoryTimeWindow": "PT1M", "enablePartitioning": true, "maxSizeInMegabytes": 2048 * 16,
		"maxMessageSizeInKilobytes": 256, "enableBatchedOperations": false, "enableExpress": false, "supportOrdering": false, "status": "SendDisabled",
		"forwardDeadLetteredMessagesTo": "target", "userMetadata": "u", "isClientAffine": false,
	}
	plain := map[string]any{
		"lockDuration": "PT1M", "maxDeliveryCount": 10, "requiresSession": false, "deadLetteringOnMessageExpiration": false,
		"deadLetteringOnFilterEvaluationExceptions": true, "defaultMessageTimeToLive": never, "autoDeleteOnIdle": never,
		"requiresDuplicateDetection": false, "duplicateDetectionHistoryTimeWindow": "PT10M", "enablePartitioning": false, "maxSizeInMegabytes": 1024,
		"maxMessageSizeInKilobytes": 256, "enableBatchedOperations": true, "enableExpress": false, "supportOrdering": true, "status": "Active",
		"forwardDeadLetteredMessagesTo": nil, "userMetadata": nil, "isClientAffine": false, "forwardTo": nil,
	}
	for _, e := range []struct {
		kind entityKind
		path string
	}{{queue, "/queues/"}, {topic, "/topics/"}, {subscription, "/topics/parent/subscriptions/"}} {
		check := func(name string, want map[string]any, with ...any) {
			t.Helper()
			for restarted := range 2 {
				r := h.get(orders+e.path+name).status(http.StatusOK).has("id", orders+e.path+name, "name", name, "location", "West Europe").has(with...)
				for _, p := range entityProperties {
					if p.form == readOnly {
						continue
					}
					value := want[p.name]
					if p.kinds&e.kind == 0 {
						value = nil
					}
					if e.kind != queue && p.name == "autoDeleteOnIdle" && value == never {
						value = never
					}
					if value == "PT1H" && e.kind != topic { // an entity that forwards is never idle
						value = never
					}
					r.has("properties."+p.name, value)
				}
				if restarted == 0 {
					h.restart()
				}
			}
		}
		h.put(orders+e.path+"plain", object{"properties": object{"maxSizeInMegabytes": 0, "userMetadata": "", "forwardTo": nil}}).status(http.StatusOK)
		check("plain", plain, "properties.countDetails.activeMessageCount", 0, "properties.accessedAt", "0001-01-01T00:00:00Z")
		h.put(orders+e.path+"all", object{"properties": everyProperty}).status(http.StatusOK)
		check("all", set)
		h.put(orders+e.path+"all", object{"PROPERTIES": object{"LOCKDURATION": "PT2M", "maxsizeInMegabytes": 2048 * 16}}).status(http.StatusOK)
		kept := map[string]any{}
		for name, value := range plain {
			kept[name] = value
		}
		// What can't be changed stays when a body leaves it out.
		kept["lockDuration"], kept["requiresSession"], kept["requiresDuplicateDetection"], kept["enablePartitioning"] = "PT2M", true, true, true
		kept["maxSizeInMegabytes"], kept["supportOrdering"] = 2048*16, false
		check("all", kept)

		for name, wrong := range map[string]any{
			"requiresSession": false, "requiresDuplicateDetection": false, "enablePartitioning": false, "lockDuration": "PT6M",
			"maxDeliveryCount": 0, "status": "Unknown", "autoDeleteOnIdle": "PT1M", "maxMessageSizeInKilobytes": 1024, "forwardTo": "missing", "isClientAffine": true,
			"defaultMessageTimeToLive": "soon",
		} {
			for _, p := range entityProperties {
				if p.name == name && p.kinds&e.kind != 0 {
					h.put(orders+e.path+"all", object{"properties": object{name: wrong}}).refused(400, "MessagingGatewayBadRequest", "SubCode=40")
				}
			}
		}
		for _, wrong := range []string{`{"properties":{"status":1}}`, `{"properties":{"enableBatchedOperations":[]}}`, `{"properties":[]}`, `{`, `[]`, `{"properties":{"maxDeliveryCount":"x"}}`} {
			if e.kind == topic && strings.Contains(wrong, "Delivery") {
				continue
			}
			h.put(orders+e.path+"all", wrong).refused(400, "InvalidRequestContent", "")
		}
		h.put(orders+e.path+"a$b", object{}).refused(400, "MessagingGatewayBadRequest", "SubCode=40000.")
		h.get(orders+e.path+"none").refused(404, "MessagingGatewayNotFoundStatusCode", "SubCode=40400.")
		h.remove(orders + e.path + "none").status(http.StatusNoContent)
		h.remove(orders + e.path + "all").status(http.StatusOK)
		h.get(orders+e.path+"all").refused(404, "MessagingGatewayNotFoundStatusCode", "")
		h.get(strings.Replace(orders, "orders", "none", 1)+e.path+"plain").refused(404, "ParentResourceNotFound", "'none'")
		h.remove(strings.Replace(orders, "orders", "none", 1)+e.path+"plain").refused(404, "ParentResourceNotFound", "'none'")
		if e.kind != subscription { // the next kind may have the name
			h.remove(orders + e.path + "plain").status(http.StatusOK)
		}
	}
	h.put(orders+"/topics/target", object{}).refused(409, "MessagingGatewayConflict", "target")
	h.put(orders+"/topics/none/subscriptions/s", object{}).refused(404, "MessagingGatewayNotFoundStatusCode", "")
	h.put(orders+"/topics/parent/subscriptions/a%2Fb", object{}).refused(400, "MessagingGatewayBadRequest", "SubCode=40000.")
	h.get(orders + "/topics/parent/subscriptions").want("plain")
	h.get(orders+"/topics/none/subscriptions").refused(404, "MessagingGatewayNotFoundStatusCode", "")
}

// TestJMS9_ClientAffineSubscriptions sends what Terraform and az send for subscriptions of JMS clients, and for others.
func TestJMS9_ClientAffineSubscriptions(t *testing.T) {
	h := withOrders(t)
	h.put(orders+"/topics/t", object{}).status(http.StatusOK)
	const at = orders + "/topics/t/subscriptions/"
	plain := object{"isClientAffine": false, "clientAffineProperties": object{}}
	h.put(at+"plain", object{"properties": plain}).status(http.StatusOK).has("properties.isClientAffine", false, "properties.clientAffineProperties", nil)
	client := func(id string, more ...any) object {
		c := object{"clientId": id}
		for i := 0; i < len(more); i += 2 {
			c[more[i].(string)] = more[i+1]
		}
		return object{"properties": object{"isClientAffine": true, "clientAffineProperties": c}}
	}
	shown := []any{"name", "audit$app$D", "properties.isClientAffine", true, "properties.clientAffineProperties.clientId", "app",
		"properties.clientAffineProperties.isDurable", true, "properties.clientAffineProperties.isShared", true}
	for range 2 { // a second time it is an update
		h.put(at+"audit$app$D", client("app", "isShared", true)).status(http.StatusOK).has(shown...)
	}
	h.get(at + "audit%24app%24D").status(http.StatusOK).has(shown...)
	h.put(at+"none$$D", client("", "isShared", false, "isDurable", true)).status(http.StatusOK).has("properties.clientAffineProperties.clientId", "")
	h.put(at+"byname$app$D", object{}).status(http.StatusOK).has("properties.isClientAffine", true, "properties.clientAffineProperties.isShared", false)
	h.get(orders+"/topics/t/subscriptions").want("audit$app$D", "byname$app$D", "none$$D", "plain")
	for _, x := range []struct {
		name string
		body any
	}{
		{"audit$app$D", client("app", "isShared", false)}, // fixed at creation
		{"plain", client("app")},
		{"new", client("app")},
		{"new$app$D", client("other")},
		{"new$app$D", client("app", "isDurable", false)},
		{"new$app$D", object{"properties": plain}},
		{"new$app$ND", client("app", "isDurable", false)},
		{"new$a%20b$D", object{}},
	} {
		h.put(at+x.name, x.body).refused(400, "MessagingGatewayBadRequest", "SubCode=40000.")
	}
	h.put(at+"new$app$D", `{"properties":{"clientAffineProperties":7}}`).refused(400, "InvalidRequestContent", "")
	h.remove(at + "audit$app$D").status(http.StatusOK)
}

func TestNamesWithSlashes(t *testing.T) {
	h := withOrders(t)
	h.put(orders+"/queues/a%2Fb", object{}).status(http.StatusOK).has("name", "a~b", "id", orders+"/queues/a~b")
	h.get(orders+"/queues/A~B").status(http.StatusOK).has("name", "A~B")
	ns, _ := h.broker.Namespace("orders")
	if _, err := ns.Entity("a/b"); err != nil {
		t.Error(err)
	}
	h.get(orders + "/queues").want("a~b")
	for _, path := range []string{"/queues/a/b", "/topics/a/b/c"} { // as Terraform writes a name with slashes
		h.put(orders+path, object{}).refused(400, "InvalidResourceType", "write a~b for a/b")
	}
	h.put(orders+"/topics/t", object{}).status(http.StatusOK)
	h.put(orders+"/topics/t/subscriptions/s", object{}).status(http.StatusOK)
	if _, err := ns.Entities().CreateSubscription("t", emulator.SubscriptionOptions{Name: "x~y"}); err != nil {
		t.Fatal(err)
	}
	h.get(orders+"/topics/t/subscriptions").want("s", "x~y")
	h.get(orders+"/topics/t/subscriptions/x~y").status(http.StatusOK).has("name", "x~y")
	// No other kind of id reaches an entity.
	for _, path := range []string{"/queues/t", "/queues/t~Subscriptions~s", "/topics/a~b", "/topics/x/subscriptions/a~b"} {
		h.get(orders+path).refused(404, "MessagingGatewayNotFoundStatusCode", "")
	}
	h.put(orders+"/queues/t~Subscriptions~s", object{}).refused(409, "MessagingGatewayConflict", "")
	h.put(orders+"/queues/t~Subscriptions~x", object{}).refused(400, "MessagingGatewayBadRequest", "")
	h.put(orders+"/queues/a~..~b", object{}).refused(400, "MessagingGatewayBadRequest", "")
	h.remove(orders + "/queues/a%2fb").status(http.StatusOK)
	h.get(orders + "/queues").want()
}

// TestBothFrontEndsShowTheSame: what the domain has changed otherwise shows at once.
func TestBothFrontEndsShowTheSame(t *testing.T) {
	h := withOrders(t)
	ns, _ := h.broker.Namespace("orders")
	if _, err := ns.Entities().CreateQueue("q", emulator.QueueOptions{MaxDeliveryCount: 4}); err != nil {
		t.Fatal(err)
	}
	h.get(orders+"/queues/q").status(http.StatusOK).has("properties.maxDeliveryCount", 4, "properties.lockDuration", "PT1M")
	if err := ns.Entities().Delete("q"); err != nil {
		t.Fatal(err)
	}
	h.get(orders+"/queues/q").refused(404, "MessagingGatewayNotFoundStatusCode", "")
}

// TestAPutThatChangesNothingEndsNoLink: templates are deployed again and again.
func TestAPutThatChangesNothingEndsNoLink(t *testing.T) {
	h := withOrders(t)
	ns, _ := h.broker.Namespace("orders")
	h.put(orders+"/topics/t", object{}).status(http.StatusOK)
	for path, entity := range map[string]string{"/queues/q": "q", "/topics/t": "t", "/topics/t/subscriptions/s": "t/Subscriptions/s"} {
		body := object{"properties": object{"userMetadata": "u", "autoDeleteOnIdle": "PT1H"}}
		h.put(orders+path, body).status(http.StatusOK)
		e, err := ns.Entity(entity)
		if err != nil {
			t.Fatal(err)
		}
		ended := 0
		e.Watch(emulator.Main, func(error) { ended++ })
		h.put(orders+path, body).status(http.StatusOK)
		if ended != 0 {
			t.Errorf("%s: the links have ended", path)
		}
		h.put(orders+path, object{}).status(http.StatusOK)
		if ended != 1 {
			t.Errorf("%s: the links were told %d times", path, ended)
		}
	}
}

func TestTiers(t *testing.T) {
	h := withOrders(t)
	small, large := strings.Replace(orders, "orders", "small-ns", 1), strings.Replace(orders, "orders", "large-ns", 1)
	h.put(small, object{"location": "x", "sku": object{"name": "Basic"}}).status(http.StatusOK)
	h.put(large, object{"location": "x", "sku": object{"name": "Premium"}, "properties": object{"premiumMessagingPartitions": 2}}).status(http.StatusOK)

	h.put(small+"/topics/t", object{}).refused(404, "MessagingGatewayNotFoundStatusCode", "Basic")
	h.put(small+"/queues/q", object{"properties": object{"defaultMessageTimeToLive": never, "requiresSession": false}}).status(http.StatusOK)
	for name, value := range map[string]any{"requiresSession": true, "requiresDuplicateDetection": true, "defaultMessageTimeToLive": "PT1H",
		"forwardTo": "q", "autoDeleteOnIdle": "PT1H", "enableExpress": true} {
		h.put(small+"/queues/other", object{"properties": object{name: value}}).refused(400, "MessagingGatewayBadRequest", "'Basic' Tier")
	}
	h.put(large+"/queues/q", object{"properties": object{"enablePartitioning": true, "maxSizeInMegabytes": 16384}}).status(http.StatusOK).has(
		"properties.maxMessageSizeInKilobytes", 1024, "properties.maxSizeInMegabytes", 16384, "properties.enablePartitioning", true)
	h.put(large+"/queues/q", object{"properties": object{"maxMessageSizeInKilobytes": 102400}}).status(http.StatusOK).has("properties.maxMessageSizeInKilobytes", 102400)
	h.put(large, object{"location": "x", "sku": object{"name": "Premium"}, "properties": object{"premiumMessagingPartitions": 4}}).refused(400, "MessagingGatewayBadRequest", "cannot be changed")
}

// TestTiersHaveTheirLimits where the process has those of a tier.
func TestTiersHaveTheirLimits(t *testing.T) {
	h := newHouseWith(t, emulator.ProfileStandard)
	h.put(rg, object{"location": "x"}).status(http.StatusCreated)
	h.put(orders, object{"location": "x"}).status(http.StatusOK)
	large := strings.Replace(orders, "orders", "large-ns", 1)
	h.put(large, object{"location": "x", "sku": object{"name": "Premium"}}).status(http.StatusOK)
	big := object{"properties": object{"maxSizeInMegabytes": 81920}}
	h.put(orders+"/queues/q", big).refused(400, "MessagingGatewayBadRequest", "1024;2048;3072;4096;5120")
	h.put(large+"/queues/q", big).status(http.StatusOK).has("properties.maxSizeInMegabytes", 81920, "properties.maxMessageSizeInKilobytes", 1024)
}

func TestListsHavePages(t *testing.T) {
	h := withOrders(t)
	for i := range 250 {
		h.put(fmt.Sprintf("%s/queues/q%03d", orders, i), object{}).status(http.StatusOK)
	}
	var all []string
	next := orders + "/queues"
	for pages := 0; next != ""; pages++ {
		r := h.get(next)
		all = append(all, r.names()...)
		if next, _ = r.at("nextLink").(string); next != "" && !strings.Contains(next, "api-version=2024-01-01") || pages > 2 {
			t.Fatalf("page %d: %s", pages, next)
		}
		next = strings.TrimPrefix(next, "https://localhost:5300")
	}
	if len(all) != 250 || all[0] != "q000" || all[249] != "q249" {
		t.Errorf("%d: %v", len(all), all)
	}
	r := h.get(orders + "/queues?$top=2&$skip=9")
	r.want("q009", "q010")
	r.has("nextLink", nil)
	h.get(orders + "/queues?$skip=1000").want()
	for _, query := range []string{"$top=0", "$top=1001", "$skip=-1", "$skip=x"} {
		h.get(orders+"/queues?"+query).refused(400, "InvalidParameter", "")
	}
}

func TestRules(t *testing.T) {
	h := withOrders(t)
	h.put(orders+"/topics/t", object{}).status(http.StatusOK)
	const rules = orders + "/topics/t/subscriptions/s/rules"
	h.put(rules+"/r", object{}).refused(404, "MessagingGatewayNotFoundStatusCode", "")
	h.put(orders+"/topics/t/subscriptions/s", object{}).status(http.StatusOK)
	everything := []any{"properties.filterType", "SqlFilter", "properties.sqlFilter.sqlExpression", "1=1", "properties.sqlFilter.compatibilityLevel", 20,
		"properties.action", object{}, "properties.correlationFilter", nil}
	h.get(rules+"/$Default").status(http.StatusOK).has(everything...).has("id", rules+"/$Default", "type", "Microsoft.ServiceBus/namespaces/topics/subscriptions/rules")
	h.put(rules+"/empty", object{}).status(http.StatusOK).has(everything...)
	h.put(rules+"/sql", object{"properties": object{"filterType": "SqlFilter", "action": object{"sqlExpression": "SET x=1", "requiresPreprocessing": true},
		"sqlFilter": object{"sqlExpression": "a=1", "compatibilityLevel": 20, "requiresPreprocessing": false}}}).status(http.StatusOK)
	h.put(rules+"/correlation", object{"properties": object{"filterType": "correlationFILTER", "action": object{},
		"correlationFilter": object{"correlationId": "c", "label": "l", "replyToSessionId": "", "to": nil, "properties": object{"k": "v"}}}}).status(http.StatusOK)
	for range 2 {
		h.get(rules).want("$Default", "empty", "sql", "correlation")
		h.get(rules+"/sql").status(http.StatusOK).has("properties.action.sqlExpression", "SET x=1", "properties.sqlFilter.sqlExpression", "a=1")
		h.get(rules+"/correlation").status(http.StatusOK).has("properties.filterType", "CorrelationFilter", "properties.sqlFilter", nil,
			"properties.correlationFilter", object{"correlationId": "c", "label": "l", "properties": object{"k": "v"}})
		h.restart()
	}
	ns, _ := h.broker.Namespace("orders")
	typed := emulator.RuleOptions{Name: "typed", Correlation: &emulator.CorrelationFilter{Properties: emulator.Values{"n": int64(7), "b": true}}}
	if _, err := ns.Entities().PutRule("t/Subscriptions/s", typed); err != nil {
		t.Fatal(err)
	}
	h.get(rules+"/typed").status(http.StatusOK).has("properties.correlationFilter.properties", object{"n": "7", "b": "true"})
	h.remove(rules + "/typed").status(http.StatusOK)
	h.put(rules+"/$Default", object{"properties": object{"sqlFilter": object{"sqlExpression": "b=2"}}}).status(http.StatusOK).has("properties.sqlFilter.sqlExpression", "b=2")
	h.put(rules+"/sql", object{"properties": object{"sqlFilter": object{"sqlExpression": "a ="}}}).refused(400, "MessagingGatewayBadRequest", "SubCode=40000.")
	h.put(rules+"/sql", object{"properties": object{"filterType": "TrueFilter"}}).refused(400, "MessagingGatewayBadRequest", "TrueFilter")
	h.put(rules+"/sql", object{"properties": object{"filterType": "CorrelationFilter"}}).refused(400, "MessagingGatewayBadRequest", "correlationFilter")
	h.put(rules+"/"+strings.Repeat("x", 60), object{}).refused(400, "MessagingGatewayBadRequest", "")
	h.remove(rules + "/$Default").status(http.StatusOK)
	h.remove(rules + "/$Default").status(http.StatusNoContent)
	h.get(rules+"/$Default").refused(404, "MessagingGatewayNotFoundStatusCode", "")
	h.get(rules).want("empty", "sql", "correlation")
}

// TestNamesWithATilde: an entity a~b is not taken for a/b, whose id has a tilde too.
func TestNamesWithATilde(t *testing.T) {
	h := withOrders(t)
	ns, err := h.broker.Namespace("orders")
	if err != nil {
		t.Fatal(err)
	}
	h.put(orders+"/queues/a%2Fb", object{}).status(http.StatusOK)
	for _, name := range []string{"a~b", "c/d~e"} {
		if _, err := ns.Entities().CreateQueue(name, emulator.QueueOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ns.Entities().CreateTopic("t~u", emulator.TopicOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := ns.Entities().CreateSubscription("t~u", emulator.SubscriptionOptions{Name: "s"}); err != nil {
		t.Fatal(err)
	}
	h.get(orders + "/queues").want("a~b")
	h.get(orders+"/queues").has("value.0.id", orders+"/queues/a~b")
	h.get(orders + "/topics").want()
	h.get(orders + "/topics/t~u").status(http.StatusNotFound)
	h.put(orders+"/queues/C%2FD%2Fe", object{}).refused(409, "MessagingGatewayConflict", "c/d~e")
	h.put(orders+"/queues/t~u", object{}).refused(409, "MessagingGatewayConflict", "'t/u' could not be told from it")
	h.put(orders+"/queues/t~v", object{}).status(http.StatusOK)

	const who = "11111111-1111-1111-1111-111111111111"
	h.put(orders+"/queues/a~b/providers/Microsoft.Authorization/roleAssignments/33333333-3333-3333-3333-333333333333",
		object{"properties": object{
			"roleDefinitionId": sub + "/providers/Microsoft.Authorization/roleDefinitions/" + dataSender,
			"principalId":      who,
		}}).status(http.StatusCreated)
	if got := h.Claims(ns, "a/b", []string{who}); got != sas.Send {
		t.Errorf("a/b: %v", got)
	}
	if got := h.Claims(ns, "a~b", []string{who}); got != 0 {
		t.Errorf("a~b: %v", got)
	}
	for path, want := range map[string]string{
		"a~b/$DeadLetterQueue": orders, "t~u/Subscriptions/s": orders, "t~x": orders, "a/b": orders + "/queues/a~b",
	} {
		if got := h.Scope(ns, path); got != want {
			t.Errorf("the scope of %s is %s", path, got)
		}
	}

	h.remove(orders + "/queues/a~b").status(http.StatusOK)
	h.remove(orders + "/queues/a~b").status(http.StatusNoContent)
	if _, err := ns.Entity("a~b"); err != nil {
		t.Error(err)
	}
}
