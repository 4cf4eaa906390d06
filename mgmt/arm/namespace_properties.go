package arm

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/google/uuid"

	"minibus/emulator"
)

// namespaceProperty is a property of a namespace that is kept and shown.
type namespaceProperty struct {
	name    string
	initial func(of sku) any                  // what is shown without a value; nil: nothing
	parse   func(json.RawMessage) (any, bool) // false: the value is none that the property can have
	allowed string                            // what it can have, for the text of the error
	fixed   bool                              // can't be changed
	premium bool                              // has its default below that tier
}

// namespaceProperties are those that have no other effect here, but for disableLocalAuth.
var namespaceProperties = []namespaceProperty{
	{name: "minimumTlsVersion", initial: always("1.2"), parse: word("1.0", "1.1", "1.2", "1.3"),
		allowed: "1.0, 1.1, 1.2 or 1.3"},
	{name: "publicNetworkAccess", initial: always("Enabled"), parse: word("Enabled", "Disabled", "SecuredByPerimeter"),
		allowed: "Enabled, Disabled or SecuredByPerimeter"},
	{name: "disableLocalAuth", initial: always(false), parse: one[bool], allowed: "true or false"},
	{name: "zoneRedundant", initial: always(false), parse: one[bool], allowed: "true or false"},
	{name: "premiumMessagingPartitions", initial: partitions, parse: number0to4, fixed: true, premium: true,
		allowed: "1, 2 or 4 in Premium, else 0"},
	{name: "alternateName", initial: always(nil), parse: one[string], allowed: "a name"},
	{name: "ipAddressType", initial: always(nil), parse: one[string], allowed: "a text"},
}

func always(v any) func(sku) any { return func(sku) any { return v } }

func partitions(of sku) any {
	if of.Name == premium {
		return 1
	}
	return 0
}

// one takes a JSON value of a type.
func one[T any](text json.RawMessage) (any, bool) {
	var v T
	err := json.Unmarshal(text, &v)
	return v, err == nil
}

func number0to4(text json.RawMessage) (any, bool) {
	v, ok := one[int](text)
	return v, ok && slices.Contains([]int{0, 1, 2, 4}, v.(int))
}

// word takes one of some words, in any case.
func word(words ...string) func(json.RawMessage) (any, bool) {
	return func(text json.RawMessage) (any, bool) {
		v, ok := one[string](text)
		i := slices.IndexFunc(words, func(w string) bool { return ok && strings.EqualFold(w, v.(string)) })
		if i < 0 {
			return nil, false
		}
		return words[i], true
	}
}

// property returns the value of a name in any case; a null is none.
func property(properties map[string]json.RawMessage, name string) (json.RawMessage, bool) {
	text, ok := properties[name]
	if !ok {
		for other, value := range properties {
			if strings.EqualFold(other, name) {
				text, ok = value, true
			}
		}
	}
	return text, ok && string(text) != "null"
}

// takeNamespace takes over into a namespace what a body says. Without whole the rest stays, else it gets its default.
func (m *Manager) takeNamespace(c *call, s *namespaceDocument, body envelope, whole bool) error {
	if body.Tags != nil {
		s.Tags = *body.Tags
	}
	if err := checkTags(s.Tags); err != nil {
		return err
	}
	if err := m.takeSKU(c, s, body.SKU); err != nil {
		return err
	}
	if err := takeIdentity(s, body.Identity); err != nil {
		return err
	}
	properties := object{}
	for _, p := range namespaceProperties {
		old, was := s.Properties[p.name]
		text, given := property(body.Properties, p.name)
		if !given {
			if was && (!whole || p.fixed) {
				properties[p.name] = old
			}
			continue
		}
		v, ok := p.parse(text)
		if !ok || p.premium && s.SKU.Name != premium && !sameJSON(v, p.initial(s.SKU)) {
			return unsupported(c.id, "The value %.60s of the property '%s' is not valid. It is %s.", text, p.name,
				p.allowed)
		}
		if !was {
			old = p.initial(s.SKU)
		}
		if exists := s.Of != 0; exists && p.fixed && !sameJSON(old, v) {
			return unsupported(c.id, "The value for the %s property of an existing namespace cannot be changed.",
				p.name)
		}
		properties[p.name] = v
	}
	s.Properties = properties
	return m.refuseNamespace(c, body)
}

func sameJSON(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

// refuseNamespace fails for what a namespace can't have here.
func (m *Manager) refuseNamespace(c *call, body envelope) error {
	for _, name := range []string{"encryption", "geoDataReplication"} {
		text, given := property(body.Properties, name)
		if given && string(text) != "{}" {
			return unsupported(c.id, "Minibus has no %s of namespaces. Leave the property out.", name)
		}
	}
	return nil
}

// capacities are the messaging units that a Premium namespace can have.
var capacities = []int{1, 2, 4, 8, 16}

func (m *Manager) takeSKU(c *call, s *namespaceDocument, given *sku) error {
	if given == nil {
		return nil
	}
	i := slices.IndexFunc([]string{basic, standard, premium}, func(name string) bool {
		return strings.EqualFold(name, given.Name)
	})
	if i < 0 || given.Tier != "" && !strings.EqualFold(given.Tier, given.Name) {
		return unsupported(c.id, "The sku '%.40s' with the tier '%.40s' does not exist. A namespace is Basic, "+
			"Standard or Premium.", given.Name, given.Tier)
	}
	k := sku{Name: []string{basic, standard, premium}[i]}
	k.Tier = k.Name
	if exists := s.Of != 0; exists && (k.Name == premium) != (s.SKU.Name == premium) {
		return unsupported(c.id, "The namespace can't be moved to or from Premium. Make another one.")
	}
	if k.Name == premium {
		k.Capacity = max(given.Capacity, 1)
		if !slices.Contains(capacities, k.Capacity) {
			return unsupported(c.id, "A Premium namespace can't have %d messaging units. It has 1, 2, 4, 8 or 16.",
				given.Capacity)
		}
	}
	s.SKU = k
	return nil
}

// identity is what a namespace may act as. Nothing asks for it here.
type identity struct {
	Type         string                      `json:"type"`
	PrincipalID  string                      `json:"principalId,omitempty"`
	TenantID     string                      `json:"tenantId,omitempty"`
	UserAssigned map[string]assignedIdentity `json:"userAssignedIdentities,omitempty"`
}

// assignedIdentity is an identity that is a resource of its own.
type assignedIdentity struct {
	PrincipalID string `json:"principalId"`
	ClientID    string `json:"clientId"`
}

func takeIdentity(s *namespaceDocument, text json.RawMessage) (err error) {
	if len(text) > 0 && string(text) != "null" {
		s.Identity, err = readIdentity(s.ID, text)
	}
	return err
}

// readIdentity reads what a resource may act as, and adds the ids. It returns nil for nothing.
func readIdentity(resource string, text json.RawMessage) (*identity, error) {
	var given struct {
		Type         string                     `json:"type"`
		UserAssigned map[string]json.RawMessage `json:"userAssignedIdentities"`
	}
	if err := json.Unmarshal(text, &given); err != nil {
		return nil, badRequest("InvalidRequestContent", "The identity can't be read: %v.", err)
	}
	own, assigned := false, false
	for word := range strings.SplitSeq(given.Type, ",") {
		switch strings.ToLower(strings.TrimSpace(word)) {
		case "systemassigned":
			own = true
		case "userassigned":
			assigned = true
		case "none":
		default:
			return nil, badRequest("InvalidRequestContent", "The type of an identity is None, SystemAssigned, "+
				"UserAssigned or 'SystemAssigned, UserAssigned', and not '%.60s'.", given.Type)
		}
	}
	i := &identity{}
	var words []string
	if own {
		words = append(words, "SystemAssigned")
		i.PrincipalID, i.TenantID = principalOf(resource), Tenant
	}
	if assigned {
		words = append(words, "UserAssigned")
		i.UserAssigned = make(map[string]assignedIdentity)
		for id, value := range given.UserAssigned {
			if string(value) != "null" { // which takes it away
				i.UserAssigned[id] = assignedIdentity{principalOf(id), clientOf(id)}
			}
		}
	}
	i.Type = strings.Join(words, ", ")
	if i.Type == "" {
		return nil, nil
	}
	return i, nil
}

// madeUp returns an id that is always the same for a resource.
func madeUp(kind, id string) string {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte(kind+strings.ToLower(id))).String()
}

// LocalAuthDisabled reports whether the keys of a namespace open nothing, where tokens are checked.
func (m *Manager) LocalAuthDisabled(ns *emulator.Namespace) bool {
	off, _ := m.documentOf(ns).Properties["disableLocalAuth"].(bool)
	return off
}

// serviceEndpoint returns the address of a namespace as its properties show it.
func (m *Manager) serviceEndpoint(ns *emulator.Namespace, base string) string {
	address, _ := m.server.Address(ns, hostOf(base))
	if !hasPort.MatchString(address) {
		address += ":443"
	}
	return "https://" + address + "/"
}

var hasPort = regexp.MustCompile(`:\d+$`)

// hostOf returns the host of a scheme and host.
func hostOf(base string) string {
	_, host, _ := strings.Cut(base, "://")
	return host
}
