package mgmt

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"minibus/emulator"
	"minibus/internal/sas"
	"minibus/mgmt/arm"
	"minibus/store"
)

// CreateNamespace and DeleteNamespace implement arm.Server, with Broker.
func (b *bus) CreateNamespace(name string, o emulator.NamespaceOptions, _ ...emulator.EntityConfig) (*emulator.Namespace, error) {
	return b.broker.Create(name, o)
}

func (b *bus) DeleteNamespace(name string) error { return b.broker.Delete(name) }

func (b *bus) AuthorizationRules(ns *emulator.Namespace) []emulator.AuthorizationRule {
	return ns.Options().Policies
}

func (b *bus) SetAuthorizationRules(ns *emulator.Namespace, rules []emulator.AuthorizationRule) error {
	o := ns.Options()
	o.Policies = rules
	return b.broker.Update(ns.Name(), o)
}

func (b *bus) Address(*emulator.Namespace, string) (string, bool) { return "localhost:5672", true }

func (b *bus) manager() *arm.Manager {
	b.t.Helper()
	s, err := store.Open(filepath.Join(b.t.TempDir(), "a.db"), store.Options{})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { s.Close() })
	m := arm.New(arm.Options{Server: b})
	if err := m.Open(s.Documents()); err != nil {
		b.t.Fatal(err)
	}
	return m
}

const armGroup = "/subscriptions/0b1f6471-1bf0-4dda-aec3-cb9272f09590/resourceGroups/rg"

// armTargets are paths to Resource Manager, of all kinds.
var armTargets = []string{
	armGroup + "/providers/Microsoft.ServiceBus/namespaces/orders/queues/q?api-version=2024-01-01",
	"/Subscriptions?api-version=2022-12-01",
	"/providers/Microsoft.ServiceBus/operations?api-version=2022-10-01-preview",
	"/tenants?api-version=2022-12-01",
}

var allMethods = []string{http.MethodGet, http.MethodPut, http.MethodPost, http.MethodPatch, http.MethodDelete}

// wantsARMError wants an error in Resource Manager's format: its clients would take the feed of nothing for success.
func (b *bus) wantsARMError(h http.Handler, method, target string, status int, code string, headers ...string) {
	b.t.Helper()
	w := do(b.t, h, method, target, `{"properties":{}}`, headers...)
	var body struct {
		Error struct{ Code, Message string }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
		b.t.Fatalf("%s %s: %d %s", method, target, w.Code, w.Body)
	}
	if w.Code != status || body.Error.Code != code || !strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
		b.t.Errorf("%s %s: %d %s %+v", method, target, w.Code, w.Header().Get("Content-Type"), body.Error)
	}
	if challenge := w.Header().Get("WWW-Authenticate"); (status == http.StatusUnauthorized) != strings.HasPrefix(challenge, "Bearer authorization_uri=") {
		b.t.Errorf("%s %s: %q", method, target, challenge)
	}
}

// TestResourceManagerOff is refused in its own words, on each path.
func TestResourceManagerOff(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	for _, target := range append(armTargets, "/metadata/endpoints?api-version=2022-09-01") {
		for _, method := range allMethods {
			b.wantsARMError(b.handler, method, target, http.StatusBadRequest, "MessagingGatewayBadRequest", "Authorization", "Bearer x")
		}
	}
}

// TestResourceManagerNeedsAToken: any web token without checks, none of them with checks unless Principal says so, and a
// shared access signature never.
func TestResourceManagerNeedsAToken(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	m := b.manager()
	signature := sas.Sign("http://localhost:5300/", sas.DefaultKeyName, sas.DefaultKey, time.Now().Add(time.Hour))
	ring := func(*emulator.Namespace) *sas.Ring {
		return sas.NewRing([]sas.Policy{{Name: sas.DefaultKeyName, Primary: sas.DefaultKey, Claims: sas.Manage}}, nil)
	}
	principal := func(r *http.Request) (string, error) {
		if r.Header.Get("Authorization") == "Bearer good" {
			return "somebody", nil
		}
		return "", errors.New("The token is none of this Minibus.")
	}
	for what, c := range map[string]struct {
		o    Options
		good []string
	}{
		"any":       {Options{}, []string{"Bearer good", "bearer x"}},
		"sas":       {Options{Access: ring}, nil},
		"an issuer": {Options{Access: ring, Principal: principal}, []string{"Bearer good"}},
	} {
		c.o.Broker, c.o.ARM = b.Broker, m
		h := New(c.o)
		for _, target := range armTargets {
			for _, method := range allMethods {
				for _, token := range []string{"", "Basic eDp5", signature} {
					b.wantsARMError(h, method, target, http.StatusUnauthorized, "AuthenticationFailed", "Authorization", token)
				}
				if what != "any" {
					b.wantsARMError(h, method, target, http.StatusUnauthorized, "AuthenticationFailed", "Authorization", "Bearer x.y.z")
				}
			}
		}
		for _, token := range c.good {
			if w := do(t, h, http.MethodGet, armTargets[1], "", "Authorization", token); w.Code != http.StatusOK || w.Header().Get("Connection") != "" {
				t.Errorf("%s: %s: %d %v", what, token, w.Code, w.Header())
			}
		}
		b.wantsARMError(h, http.MethodPost, "/v1.0/directoryObjects/getByIds", http.StatusForbidden, "Authorization_RequestDenied")
		w := do(t, h, http.MethodGet, "/metadata/endpoints?api-version=2022-09-01", "")
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"loginEndpoint":"http://localhost:5300"`) {
			t.Errorf("%s: endpoints: %d %s", what, w.Code, w.Body)
		}
	}
}

// TestEntitiesCanHaveNamesOfResourceManager: only the api-version decides, and only Resource Manager's has a day.
func TestEntitiesCanHaveNamesOfResourceManager(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	b.handler = New(Options{Broker: b.Broker, ARM: b.manager()})
	for _, path := range []string{"/subscriptions", "/providers/a", "/tenants", armGroup} {
		wants(t, b.do(http.MethodPut, path+"?api-version=2021-05", queueEntry("")), http.StatusCreated)
		wants(t, b.do(http.MethodGet, path+"?api-version=2021-05", ""), http.StatusOK, "QueueDescription")
		wants(t, b.do(http.MethodPost, path+"/messages", "x"), http.StatusCreated)
	}
}

// TestBothFrontEndsSeeWhatTheOtherMakes, changes and deletes.
func TestBothFrontEndsSeeWhatTheOtherMakes(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	b.handler = New(Options{Broker: b.Broker, ARM: b.manager()})
	const ns, version = "/subscriptions/" + arm.DefaultSubscription + "/resourceGroups/minibus/providers/Microsoft.ServiceBus/namespaces/sbemulatorns", "?api-version=2024-01-01"
	manage := func(method, path, body string) *httptest.ResponseRecorder {
		return b.do(method, ns+path+version, body, "Authorization", "Bearer x")
	}
	wants(t, manage("PUT", "/queues/a%2Fb", `{"properties":{"maxDeliveryCount":3,"defaultMessageTimeToLive":"P300000D"}}`), 200)
	wants(t, b.do("GET", "/a/b?api-version=2021-05", ""), 200, "<MaxDeliveryCount>3</MaxDeliveryCount>", "<DefaultMessageTimeToLive>P300000D</DefaultMessageTimeToLive>")
	wants(t, b.do("PUT", "/a/b?api-version=2021-05", queueEntry("<MaxDeliveryCount>4</MaxDeliveryCount>"), "If-Match", "*"), 200)
	wants(t, manage("GET", "/queues/a~b", ""), 200, `"maxDeliveryCount":4`)
	wants(t, manage("PUT", "/queues/a~b/authorizationRules/r", `{"properties":{"rights":["Send"]}}`), 200)
	wants(t, b.do("GET", "/a/b?api-version=2021-05", ""), 200, "<KeyName>r</KeyName>")
	wants(t, b.do("DELETE", "/a/b?api-version=2021-05", ""), 200)
	wants(t, manage("GET", "/queues/a~b", ""), 404, "MessagingGatewayNotFoundStatusCode")

	wants(t, manage("PUT", "/topics/t", `{}`), 200)
	wants(t, manage("PUT", "/topics/t/subscriptions/s", `{}`), 200)
	wants(t, manage("PUT", "/topics/t/subscriptions/s/rules/r", `{"properties":{"sqlFilter":{"sqlExpression":"a=1"}}}`), 200)
	wants(t, b.do("GET", "/t/Subscriptions/s/Rules/r?api-version=2021-05", ""), 200, "<SqlExpression>a=1</SqlExpression>")
	wants(t, b.do("DELETE", "/t/Subscriptions/s/Rules/r?api-version=2021-05", ""), 200)
	wants(t, manage("GET", "/topics/t/subscriptions/s/rules", ""), 200, "$Default")
	wants(t, manage("DELETE", "/topics/t", ""), 200)
	wants(t, b.do("GET", "/t?api-version=2021-05", ""), 200, "<feed")
}
