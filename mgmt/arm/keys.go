package arm

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"minibus/emulator"
)

func init() {
	for _, of := range []string{"", "queues/", "topics/"} {
		register(kind{
			name: serviceBus + "/namespaces/" + of + "authorizationRules", list: (*Manager).listPolicies,
			methods: map[string]operation{
				http.MethodGet: (*Manager).getPolicy, http.MethodHead: (*Manager).getPolicy,
				http.MethodPut: (*Manager).putPolicy, http.MethodDelete: (*Manager).deletePolicy,
			},
			actions: map[string]operation{
				"listkeys": (*Manager).listKeys, "regeneratekeys": (*Manager).regenerateKeys,
			},
		})
	}
}

// holder is a namespace, a queue or a topic with its policies.
type holder struct {
	located
	entity string // its path; "" of the namespace
	rules  []emulator.AuthorizationRule
	set    func([]emulator.AuthorizationRule) error
}

// holder returns what has the policies that an id names, or one of them.
func (m *Manager) holder(id ID) (h holder, err error) {
	if strings.EqualFold(id.Types[1], "authorizationRules") {
		h.located, err = m.find(id)
		if err == nil {
			h.rules = m.server.AuthorizationRules(h.ns)
		}
		h.set = func(rules []emulator.AuthorizationRule) error { return m.server.SetAuthorizationRules(h.ns, rules) }
		return h, err
	}
	e, s, err := m.entity(id)
	h.located = s
	if err != nil {
		return h, err
	}
	o := e.Options()
	h.entity, h.rules = id.path(), o.Admin.AuthorizationRules
	h.set = func(rules []emulator.AuthorizationRule) error {
		if t, err := e.Topic(); err == nil {
			o := t.Options()
			o.Admin.AuthorizationRules = rules
			_, err = h.ns.Entities().UpdateTopic(h.entity, o)
			return err
		}
		o.Admin.AuthorizationRules = rules
		_, err := h.ns.Entities().UpdateQueue(h.entity, o)
		return err
	}
	return h, nil
}

// index returns the place of the policy of a name; -1: there is none.
func (h *holder) index(name string) int {
	return slices.IndexFunc(h.rules, func(r emulator.AuthorizationRule) bool {
		return strings.EqualFold(r.KeyName, name)
	})
}

// policy returns the policy that an id names, and what has it.
func (m *Manager) policy(id ID) (holder, int, error) {
	h, err := m.holder(id)
	if err != nil {
		return h, -1, err
	}
	i := h.index(id.Name())
	if i < 0 {
		err = entityNotFound(id)
	}
	return h, i, err
}

func (h *holder) shown(r emulator.AuthorizationRule, id ID) object {
	return object{
		"id": id.String(), "name": id.Name(), "type": id.Type(), "location": shownLocation(h.Location),
		"properties": object{"rights": append([]string{}, r.Rights...)},
	}
}

func (m *Manager) listPolicies(c *call) (answer, error) {
	h, err := m.holder(c.id)
	if err != nil {
		return answer{}, err
	}
	return list(c, len(h.rules), func(i int) any {
		return h.shown(h.rules[i], c.id.Parent().Child("authorizationRules", h.rules[i].KeyName))
	})
}

func (m *Manager) getPolicy(c *call) (answer, error) {
	h, i, err := m.policy(c.id)
	if err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusOK, body: h.shown(h.rules[i], c.id)}, nil
}

func (m *Manager) putPolicy(c *call) (answer, error) {
	h, err := m.holder(c.id)
	if err != nil {
		return answer{}, err
	}
	var body struct {
		Properties struct {
			Rights []string `json:"rights"`
		} `json:"properties"`
	}
	if err := c.read(&body); err != nil {
		return answer{}, err
	}
	rights, err := rightsOf(c.id, body.Properties.Rights)
	if err != nil {
		return answer{}, err
	}
	if err := emulator.CheckKeyName(c.id.Name()); err != nil {
		return answer{}, err
	}
	r := emulator.AuthorizationRule{
		KeyName: c.id.Name(), PrimaryKey: emulator.NewKey(), SecondaryKey: emulator.NewKey(),
	}
	rules, i := slices.Clone(h.rules), h.index(c.id.Name())
	if i >= 0 {
		r = rules[i]
		rules = slices.Delete(rules, i, i+1)
	} else if i = len(rules); i >= emulator.MaxAuthorizationRules {
		return answer{}, gateway(c.id, http.StatusBadRequest, 40300, fmt.Sprintf("The maximum number of "+
			"authorization rules has been reached: %d.", emulator.MaxAuthorizationRules))
	}
	r.Rights = rights
	if err := h.set(slices.Insert(rules, i, r)); err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusOK, body: h.shown(r, c.id)}, nil
}

// rightsOf returns the rights of a body in the service's spelling.
func rightsOf(id ID, given []string) ([]string, error) {
	var rights []string
	for _, word := range given {
		i := slices.IndexFunc([]string{"Listen", "Send", "Manage"}, func(known string) bool {
			return strings.EqualFold(known, word)
		})
		if i < 0 {
			return nil, unsupported(id, "The right '%.40s' does not exist. It is Listen, Send or Manage.", word)
		}
		if known := []string{"Listen", "Send", "Manage"}[i]; !slices.Contains(rights, known) {
			rights = append(rights, known)
		}
	}
	switch {
	case len(rights) == 0:
		return nil, unsupported(id, "An authorization rule must have at least one right.")
	case slices.Contains(rights, "Manage") && len(rights) != 3:
		return nil, unsupported(id, "Manage permission should also include Send and Listen.")
	}
	return rights, nil
}

func (m *Manager) deletePolicy(c *call) (answer, error) {
	h, i, err := m.policy(c.id)
	if err == nil {
		if h.entity == "" && len(h.rules) == 1 {
			return answer{}, unsupported(c.id, "The last authorization rule of a namespace can't be deleted.")
		}
		err = h.set(slices.Delete(slices.Clone(h.rules), i, i+1))
	}
	return deleted(c, h.located, err)
}

func (m *Manager) listKeys(c *call) (answer, error) {
	h, i, err := m.policy(c.id)
	if err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusOK, body: m.shownKeys(c, &h, h.rules[i])}, nil
}

// shownKeys returns the keys of a policy, and connection strings with them.
func (m *Manager) shownKeys(c *call, h *holder, r emulator.AuthorizationRule) object {
	address, plain := m.server.Address(h.ns, hostOf(c.base))
	with := func(key string) string {
		s := ";SharedAccessKeyName=" + r.KeyName + ";SharedAccessKey=" + key
		if plain {
			s = "Endpoint=sb://" + address + s + ";UseDevelopmentEmulator=true"
		} else {
			s = "Endpoint=sb://" + address + "/" + s
		}
		if h.entity != "" {
			s += ";EntityPath=" + h.entity
		}
		return s
	}
	o := object{"keyName": r.KeyName, "primaryKey": r.PrimaryKey, "primaryConnectionString": with(r.PrimaryKey)}
	second := cmp.Or(r.SecondaryKey, r.PrimaryKey) // one of a file may have no second key, and clients expect both
	o["secondaryKey"], o["secondaryConnectionString"] = second, with(second)
	return o
}

func (m *Manager) regenerateKeys(c *call) (answer, error) {
	h, i, err := m.policy(c.id)
	if err != nil {
		return answer{}, err
	}
	var body struct {
		KeyType string `json:"keyType"`
		Key     string `json:"key"`
	}
	if err := c.read(&body); err != nil {
		return answer{}, err
	}
	key := body.Key
	if key == "" {
		key = emulator.NewKey()
	} else if err := emulator.CheckKey(h.rules[i].KeyName, key); err != nil {
		return answer{}, err
	}
	rules := slices.Clone(h.rules)
	switch r := &rules[i]; strings.ToLower(body.KeyType) {
	case "primarykey":
		r.PrimaryKey = key
	case "secondarykey":
		r.SecondaryKey = key
	default:
		return answer{}, unsupported(c.id, "The key type '%.40s' does not exist. It is PrimaryKey or SecondaryKey.",
			body.KeyType)
	}
	if err := h.set(rules); err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusOK, body: m.shownKeys(c, &h, rules[i])}, nil
}
