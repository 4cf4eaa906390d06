package mgmt

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"minibus/emulator"
)

// TestResourceManagerIsRefusedInItsOwnWords: its clients read JSON, and would take the feed of nothing for success.
func TestResourceManagerIsRefusedInItsOwnWords(t *testing.T) {
	b := newBus(t, emulator.LimitsRelaxed)
	const group = "/subscriptions/0b1f6471-1bf0-4dda-aec3-cb9272f09590/resourceGroups/rg"
	for _, target := range []string{
		group + "/providers/Microsoft.ServiceBus/namespaces/ns/queues/orders?api-version=2024-01-01",
		"/Subscriptions?api-version=2022-12-01",
		"/providers/Microsoft.ServiceBus/operations?api-version=2022-10-01-preview",
		"/metadata/endpoints?api-version=2022-09-01",
		"/tenants?api-version=2022-12-01",
	} {
		for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodPost, http.MethodPatch, http.MethodDelete} {
			w := b.do(method, target, `{"properties":{}}`)
			var body struct {
				Error struct{ Code, Message string }
			}
			if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
				t.Fatalf("%s %s: %d %s", method, target, w.Code, w.Body)
			}
			if w.Code != http.StatusBadRequest || !strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
				t.Errorf("%s %s: %d %s", method, target, w.Code, w.Header().Get("Content-Type"))
			}
			if body.Error.Code != "MessagingGatewayBadRequest" || !strings.Contains(body.Error.Message, "Config.json") {
				t.Errorf("%s %s: %+v", method, target, body.Error)
			}
		}
	}
}

// TestEntitiesCanHaveNamesOfResourceManager: only the api-version decides, and only Resource Manager's has a day.
func TestEntitiesCanHaveNamesOfResourceManager(t *testing.T) {
	b := newBus(t, emulator.LimitsRelaxed)
	for _, path := range []string{"/subscriptions", "/providers/a", "/tenants"} {
		wants(t, b.do(http.MethodPut, path+"?api-version=2021-05", queueEntry("")), http.StatusCreated)
		wants(t, b.do(http.MethodGet, path+"?api-version=2021-05", ""), http.StatusOK, "QueueDescription")
		wants(t, b.do(http.MethodPost, path+"/messages", "x"), http.StatusCreated)
	}
}
