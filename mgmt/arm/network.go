package arm

import (
	"encoding/json"
	"net/http"
	"strings"
)

func init() {
	register(kind{
		name: serviceBus + "/namespaces/networkRuleSets", list: (*Manager).listNetworkRules,
		methods: map[string]operation{
			http.MethodGet: (*Manager).getNetworkRules, http.MethodHead: (*Manager).getNetworkRules,
			http.MethodPut: (*Manager).putNetworkRules,
		},
	})
}

// networkRules is the document of what a namespace has of network rules: kept and shown, without effect.
type networkRules struct {
	DefaultAction string            `json:"defaultAction"`
	Public        string            `json:"publicNetworkAccess"`
	Trusted       bool              `json:"trustedServiceAccessEnabled"`
	IPRules       []ipRule          `json:"ipRules"`
	Subnets       []json.RawMessage `json:"virtualNetworkRules"`
}

// ipRule is a range of addresses.
type ipRule struct {
	Mask   string `json:"ipMask"`
	Action string `json:"action"`
}

// networkRulesOf returns the network rules of a namespace. Whether it is public, the namespace itself knows.
func (m *Manager) networkRulesOf(s located) networkRules {
	r, ok := document[networkRules](m, networkRulesID(s))
	if !ok {
		r = networkRules{DefaultAction: "Allow", IPRules: []ipRule{}, Subnets: []json.RawMessage{}}
	}
	r.Public, _ = s.Properties["publicNetworkAccess"].(string)
	r.Public = or(r.Public, "Enabled")
	return r
}

func networkRulesID(s located) ID { return mustParse(s.ID).Child("networkRuleSets", "default") }

func (m *Manager) shownNetworkRules(s located) object {
	id := networkRulesID(s)
	return object{
		"id": id.String(), "name": "default", "type": serviceBus + "/Namespaces/NetworkRuleSets",
		"location": shownLocation(s.Location), "properties": m.networkRulesOf(s),
	}
}

func (m *Manager) listNetworkRules(c *call) (answer, error) {
	s, err := m.find(c.id)
	if err != nil {
		return answer{}, err
	}
	return list(c, 1, func(int) any { return m.shownNetworkRules(s) })
}

// networkNamespace returns the namespace that has the network rules of an id. There are those of one name only.
func (m *Manager) networkNamespace(id ID) (located, error) {
	s, err := m.find(id)
	if err == nil && !strings.EqualFold(id.Name(), "default") {
		err = entityNotFound(id)
	}
	return s, err
}

func (m *Manager) getNetworkRules(c *call) (answer, error) {
	s, err := m.networkNamespace(c.id)
	if err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusOK, body: m.shownNetworkRules(s)}, nil
}

func (m *Manager) putNetworkRules(c *call) (answer, error) {
	s, err := m.networkNamespace(c.id)
	if err != nil {
		return answer{}, err
	}
	var body struct {
		Properties networkRules `json:"properties"`
	}
	if err := c.read(&body); err != nil {
		return answer{}, err
	}
	r := body.Properties
	for _, word := range []struct {
		text    *string
		name    string
		allowed []string
	}{
		{&r.DefaultAction, "defaultAction", []string{"Allow", "Deny"}},
		{&r.Public, "publicNetworkAccess", []string{"Enabled", "Disabled", "SecuredByPerimeter"}},
	} {
		if err := takeWord(c, word.text, word.name, word.allowed); err != nil {
			return answer{}, err
		}
	}
	for i := range r.IPRules {
		if err := takeWord(c, &r.IPRules[i].Action, "action", []string{"Allow"}); err != nil {
			return answer{}, err
		}
	}
	r.IPRules, r.Subnets = append([]ipRule{}, r.IPRules...), append([]json.RawMessage{}, r.Subnets...)
	if r.DefaultAction == "Deny" || len(r.IPRules)+len(r.Subnets) > 0 {
		m.log.Info("network rules are kept and shown, and have no effect", "namespace", s.ns.Name())
	}
	if err := m.keep(networkRulesID(s), r); err != nil {
		return answer{}, err
	}
	if old, _ := s.Properties["publicNetworkAccess"].(string); or(old, "Enabled") != r.Public {
		properties := object{"publicNetworkAccess": r.Public}
		for name, value := range s.Properties {
			if name != "publicNetworkAccess" {
				properties[name] = value
			}
		}
		s.Properties = properties
		if _, err := m.updateNamespace(c, s); err != nil {
			return answer{}, err
		}
	}
	return answer{status: http.StatusOK, body: m.shownNetworkRules(s)}, nil
}

// takeWord gives a text the spelling of one of the allowed words, of which the first is the default.
func takeWord(c *call, text *string, name string, allowed []string) error {
	if *text == "" {
		*text = allowed[0]
	}
	for _, w := range allowed {
		if strings.EqualFold(w, *text) {
			*text = w
			return nil
		}
	}
	return unsupported(c.id, "The value '%.40s' of the property '%s' is not valid. It is %s.", *text, name,
		strings.Join(allowed, " or "))
}
