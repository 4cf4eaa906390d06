package arm

import (
	"net/http"
	"strings"
	"testing"

	"minibus/emulator"
)

func TestPoliciesOnThreeLevels(t *testing.T) {
	h := withOrders(t)
	h.put(orders+"/queues/a%2Fb", object{}).status(http.StatusOK)
	h.put(orders+"/topics/t", object{}).status(http.StatusOK)
	h.get(orders + "/authorizationRules").want("RootManageSharedAccessKey")
	h.get(orders+"/authorizationRules/rootmanagesharedaccesskey").status(http.StatusOK).has("properties.rights", []any{"Listen", "Manage", "Send"})
	for _, level := range []struct{ path, entity string }{{"", ""}, {"/queues/a~b", "a/b"}, {"/topics/t", "t"}} {
		rules := orders + level.path + "/authorizationRules"
		h.put(rules+"/r", object{"properties": object{"rights": []string{"send", "Listen"}}}).status(http.StatusOK).has(
			"id", rules+"/r", "name", "r", "properties.rights", []any{"Send", "Listen"})
		first := h.post(rules+"/r/listKeys", nil).status(http.StatusOK)
		key, second := first.at("primaryKey").(string), first.at("secondaryKey").(string)
		if len(key) != 44 || len(second) != 44 || key == second {
			t.Errorf("%s: keys %s, %s", rules, key, second)
		}
		ending := ""
		if level.entity != "" {
			ending = ";EntityPath=" + level.entity
		}
		first.has("keyName", "r", "primaryConnectionString",
			"Endpoint=sb://orders.localhost:5672;SharedAccessKeyName=r;SharedAccessKey="+key+";UseDevelopmentEmulator=true"+ending)
		h.put(rules+"/R", object{"properties": object{"rights": []string{"Manage", "Listen", "Send"}}}).status(http.StatusOK)
		h.restart()
		h.post(rules+"/r/LISTKEYS", object{}).status(http.StatusOK).has("primaryKey", key, "secondaryKey", second)
		h.get(rules+"/r").status(http.StatusOK).has("properties.rights", []any{"Manage", "Listen", "Send"})
		h.post(rules+"/r/regenerateKeys", object{"keyType": "secondarykey", "key": "own"}).status(http.StatusOK).has("primaryKey", key, "secondaryKey", "own")
		if now := h.post(rules+"/r/regenerateKeys", object{"keyType": "PrimaryKey"}).status(http.StatusOK).at("primaryKey"); now == key {
			t.Errorf("%s: the key stays", rules)
		}

		for _, wrong := range []any{object{}, object{"properties": object{"rights": []string{}}}, object{"properties": object{"rights": []string{"Manage", "Send"}}}, object{"properties": object{"rights": []string{"Own"}}}} {
			h.put(rules+"/x", wrong).refused(400, "MessagingGatewayBadRequest", "SubCode=40000.")
		}
		h.put(rules+"/a%3Db", object{"properties": object{"rights": []string{"Send"}}}).refused(400, "MessagingGatewayBadRequest", "equals sign")
		h.post(rules+"/r/regenerateKeys", object{"keyType": "Third"}).refused(400, "MessagingGatewayBadRequest", "Third")
		h.post(rules+"/r/regenerateKeys", object{"keyType": "PrimaryKey", "key": "a;b"}).refused(400, "MessagingGatewayBadRequest", "semicolon")
		for _, path := range []string{"/none", "/none/listKeys"} {
			h.ask(map[bool]string{true: "GET", false: "POST"}[path == "/none"], rules+path, nil).refused(404, "MessagingGatewayNotFoundStatusCode", "")
		}
		h.get(rules+"/r/listKeys").refused(405, "MethodNotAllowed", "GET")
		h.remove(rules + "/r").status(http.StatusOK)
		h.remove(rules + "/r").status(http.StatusNoContent)
		for i := range 13 {
			r := h.put(rules+"/n"+strings.Repeat("x", i), object{"properties": object{"rights": []string{"Send"}}})
			if i == 12 || i == 11 && level.entity == "" {
				r.refused(400, "MessagingGatewayBadRequest", "SubCode=40300.")
				break
			}
			r.status(http.StatusOK)
		}
	}
	for i := range 11 {
		h.remove(orders + "/authorizationRules/n" + strings.Repeat("x", i)).status(http.StatusOK)
	}
	h.remove(orders+"/authorizationRules/RootManageSharedAccessKey").refused(400, "MessagingGatewayBadRequest", "last")
	h.get(orders+"/queues/none/authorizationRules").refused(404, "MessagingGatewayNotFoundStatusCode", "")
	h.get(orders+"/topics/t/subscriptions/s/authorizationRules").refused(404, "InvalidResourceType", "")
}

// TestPoliciesOfATopicLeaveItsSettings, and those of a PUT leave its policies.
func TestPoliciesAndSettingsLeaveEachOther(t *testing.T) {
	h := withOrders(t)
	for _, path := range []string{orders + "/queues/q", orders + "/topics/t"} {
		h.put(path, object{"properties": object{"userMetadata": "u", "enablePartitioning": true, "supportOrdering": true}}).status(http.StatusOK)
		h.put(path+"/authorizationRules/r", object{"properties": object{"rights": []string{"Send"}}}).status(http.StatusOK)
		h.get(path).status(http.StatusOK).has("properties.userMetadata", "u", "properties.enablePartitioning", true)
		key := h.post(path+"/authorizationRules/r/listKeys", nil).status(http.StatusOK).at("primaryKey")
		h.put(path, object{"properties": object{"userMetadata": "v"}}).status(http.StatusOK)
		h.post(path+"/authorizationRules/r/listKeys", nil).status(http.StatusOK).has("primaryKey", key)
	}
}

// TestAKeyWithoutASecond shows it twice: clients expect both.
func TestAKeyWithoutASecond(t *testing.T) {
	h := withOrders(t)
	ns, _ := h.broker.Namespace("orders")
	if err := h.SetAuthorizationRules(ns, []emulator.AuthorizationRule{{KeyName: "r", Rights: []string{"Send"}, PrimaryKey: "k"}}); err != nil {
		t.Fatal(err)
	}
	h.post(orders+"/authorizationRules/r/listKeys", nil).status(http.StatusOK).has("secondaryKey", "k")
}
