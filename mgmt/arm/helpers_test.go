package arm

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"minibus/emulator"
	"minibus/store"
)

// house is a manager over a real broker and a real store, as package server puts them together.
type house struct {
	t      testing.TB
	path   string
	limits emulator.Profile
	others bool   // resources of other types are stored
	hook   func() // called before a namespace is deleted, if set
	store  *store.Store
	broker *emulator.Broker
	*Manager
}

func newHouse(t *testing.T) *house { return newHouseWith(t, emulator.ProfileRelaxed) }

func newHouseWith(t *testing.T, l emulator.Profile) *house {
	t.Helper()
	h := &house{limits: l}
	h.begin(t)
	return h
}

func (h *house) begin(t testing.TB) {
	t.Helper()
	h.t, h.path = t, filepath.Join(t.TempDir(), "a.db")
	h.open()
	t.Cleanup(h.close)
}

func (h *house) open() {
	h.t.Helper()
	var err error
	if h.store, err = store.Open(h.path, store.Options{}); err != nil {
		h.t.Fatal(err)
	}
	h.Manager = New(Options{Server: h, OtherTypes: h.others})
	o := emulator.Options{Limits: h.limits, Deleted: h.Manager.Deleted}
	if h.broker, err = emulator.OpenBroker(h.store, o); err != nil {
		h.t.Fatal(err)
	}
	if err := h.Open(h.store.Documents()); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) close() {
	h.broker.Close()
	if err := h.store.Close(); err != nil {
		h.t.Error(err)
	}
}

// restart ends the process in an orderly way, and begins another one.
func (h *house) restart() {
	h.t.Helper()
	h.close()
	h.open()
}

// Broker implements Server, as all that follows.
func (h *house) Broker() *emulator.Broker { return h.broker }

func (h *house) CreateNamespace(name string, o emulator.NamespaceOptions, entities ...emulator.EntityConfig) (*emulator.Namespace, error) {
	o.Entities = entities
	return h.broker.Create(name, o)
}

func (h *house) DeleteNamespace(name string) error {
	if h.hook != nil {
		h.hook()
	}
	return h.broker.Delete(name)
}

func (h *house) AuthorizationRules(ns *emulator.Namespace) []emulator.AuthorizationRule {
	return ns.Options().Policies
}

func (h *house) SetAuthorizationRules(ns *emulator.Namespace, rules []emulator.AuthorizationRule) error {
	o := ns.Options()
	o.Policies = rules
	return h.broker.Update(ns.Name(), o)
}

func (h *house) Address(ns *emulator.Namespace, host string) (string, bool) {
	if host != "localhost:5300" {
		h.t.Errorf("the host is %q", host)
	}
	return ns.Name() + ".localhost:5672", true
}

// The ids of the tests.
const (
	sub       = "/subscriptions/0b1f6471-1bf0-4dda-aec3-cb9272f09590"
	rg        = sub + "/resourceGroups/shop"
	defaultNS = "/subscriptions/" + DefaultSubscription + "/resourceGroups/minibus/providers/Microsoft.ServiceBus/namespaces/sbemulatorns"
	orders    = rg + "/providers/Microsoft.ServiceBus/namespaces/orders"
)

// reply is an answer over HTTP.
type reply struct {
	*httptest.ResponseRecorder
	t    testing.TB
	what string
}

// ask sends a request. A path without api-version gets one, and a body that is no text becomes JSON.
func (h *house) ask(method, path string, body any) reply {
	h.t.Helper()
	var r io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		r = strings.NewReader(b)
	default:
		text, err := json.Marshal(b)
		if err != nil {
			h.t.Fatal(err)
		}
		r = strings.NewReader(string(text))
	}
	target := "https://localhost:5300" + path
	if !strings.Contains(path, "api-version") {
		sign := "?"
		if strings.Contains(path, "?") {
			sign = "&"
		}
		target += sign + "api-version=2024-01-01"
	}
	w := httptest.NewRecorder()
	req := httptest.NewRequest(method, target, r)
	if !Wanted(req) {
		h.t.Errorf("%s %s: no request to Resource Manager", method, path)
	}
	h.Serve(w, req, "https://localhost:5300", "")
	return reply{w, h.t, method + " " + path}
}

func (h *house) get(path string) reply { h.t.Helper(); return h.ask(http.MethodGet, path, nil) }

func (h *house) put(path string, body any) reply {
	h.t.Helper()
	return h.ask(http.MethodPut, path, body)
}

func (h *house) patch(path string, body any) reply {
	h.t.Helper()
	return h.ask(http.MethodPatch, path, body)
}

func (h *house) post(path string, body any) reply {
	h.t.Helper()
	return h.ask(http.MethodPost, path, body)
}

func (h *house) remove(path string) reply {
	h.t.Helper()
	return h.ask(http.MethodDelete, path, nil)
}

// status fails the test unless the answer has a status.
func (r reply) status(want int) reply {
	r.t.Helper()
	if r.Code != want {
		r.t.Fatalf("%s: %d %s, want %d", r.what, r.Code, r.Body, want)
	}
	return r
}

// refused fails the test unless the answer is an error with a status, a code and a part of the text.
func (r reply) refused(status int, code, part string) {
	r.t.Helper()
	var body struct {
		Error struct{ Code, Message string }
	}
	if err := json.Unmarshal(r.Body.Bytes(), &body); err != nil {
		r.t.Errorf("%s: %d %s", r.what, r.Code, r.Body)
		return
	}
	if r.Code != status || body.Error.Code != code || !strings.Contains(body.Error.Message, part) {
		r.t.Errorf("%s: %d %s: %s\nwant %d %s with %q", r.what, r.Code, body.Error.Code, body.Error.Message, status, code, part)
	}
}

// at returns what the answer has at a path of keys and numbers, such as properties.rights.0; nil if there is nothing.
func (r reply) at(path string) any {
	r.t.Helper()
	var v any
	if err := json.Unmarshal(r.Body.Bytes(), &v); err != nil {
		r.t.Fatalf("%s: %d %s", r.what, r.Code, r.Body)
	}
	for key := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case object:
			v = x[key]
		case []any:
			i := 0
			for _, c := range key {
				i = 10*i + int(c-'0')
			}
			if i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}

// has compares what the answer has at paths with values, given in turn.
func (r reply) has(pathsAndValues ...any) reply {
	r.t.Helper()
	for i := 0; i+1 < len(pathsAndValues); i += 2 {
		path, want := pathsAndValues[i].(string), pathsAndValues[i+1]
		if n, ok := want.(int); ok {
			want = float64(n)
		}
		if got := r.at(path); !reflect.DeepEqual(got, want) {
			r.t.Errorf("%s: %s is %#v, want %#v", r.what, path, got, want)
		}
	}
	return r
}

// names returns the names in a list.
func (r reply) names() (list []string) {
	r.t.Helper()
	for _, item := range r.status(http.StatusOK).at("value").([]any) {
		name, _ := item.(object)["name"].(string)
		list = append(list, name)
	}
	return list
}

// want compares the names in a list.
func (r reply) want(names ...string) {
	r.t.Helper()
	if got := r.names(); !reflect.DeepEqual(got, names) && len(got)+len(names) > 0 {
		r.t.Errorf("%s: %q, want %q", r.what, got, names)
	}
}

// withOrders makes the resource group and the namespace of the tests.
func withOrders(t *testing.T) *house {
	t.Helper()
	h := newHouse(t)
	h.put(rg, object{"location": "westeurope"}).status(http.StatusCreated)
	h.put(orders, object{"location": "West Europe", "sku": object{"name": "Standard"}}).status(http.StatusOK)
	return h
}
