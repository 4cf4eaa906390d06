package arm

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"minibus/emulator"
)

// providersType is the kind of what has types of resources.
const providersType = own + "/subscriptions/providers"

func init() {
	register(kind{
		name: providersType, list: (*Manager).listProviders,
		methods: map[string]operation{http.MethodGet: (*Manager).getProvider},
		actions: map[string]operation{
			"register": (*Manager).getProvider, "unregister": (*Manager).getProvider,
			"checknameavailability": (*Manager).checkName,
		},
	})
	for _, of := range []string{"", "/resourceGroups"} {
		register(kind{name: own + "/subscriptions" + of + "/resources", list: (*Manager).listResources})
	}
}

// listResources answers with what a subscription or a resource group has of the kinds that say so.
func (m *Manager) listResources(c *call) (answer, error) {
	keep, err := filterOf(c)
	if err != nil {
		return answer{}, err
	}
	var all []object
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		if kinds[name].tracked == nil {
			continue
		}
		for _, r := range kinds[name].tracked(m, c.id.Parent()) {
			delete(r, "properties")
			if keep(r) {
				all = append(all, r)
			}
		}
	}
	for _, r := range m.resourcesOf(c.id.Parent()) {
		if delete(r, "properties"); keep(r) {
			all = append(all, r)
		}
	}
	return list(c, len(all), func(i int) any { return all[i] })
}

// checkName answers whether a new namespace can have a name.
func (m *Manager) checkName(c *call) (answer, error) {
	var body struct {
		Name string `json:"name"`
	}
	if err := c.read(&body); err != nil {
		return answer{}, err
	}
	available, reason, text := true, "None", ""
	if err := emulator.CheckNamespaceName(body.Name); err != nil {
		available, reason, text = false, "InvalidName", err.Error()
	}
	if _, err := m.server.Broker().Namespace(body.Name); err == nil {
		available, reason, text = false, "NameInUse", "The specified name is not available. A namespace has it."
	}
	return answer{status: http.StatusOK, body: object{
		"nameAvailable": available, "reason": reason, "message": text,
	}}, nil
}

// apiVersions are those that answers name. Requests may have any.
var apiVersions = []string{
	"2026-01-01", "2025-05-01-preview", "2024-01-01", "2023-01-01-preview", "2022-10-01-preview", "2022-01-01-preview",
	"2021-11-01", "2021-06-01-preview", "2021-01-01-preview", "2018-01-01-preview", "2017-04-01", "2015-08-01",
}

// providerNames returns the providers of the registry.
func providerNames() []string {
	names := make(map[string]bool)
	for _, k := range kinds {
		provider, _, _ := strings.Cut(k.name, "/")
		names[provider] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// shownProvider returns a provider with the types that the registry has of it. Others are registered and empty.
func shownProvider(subscription, name string) object {
	types := []object{}
	for _, key := range slices.Sorted(maps.Keys(kinds)) {
		provider, rest, _ := strings.Cut(kinds[key].name, "/")
		if !strings.EqualFold(provider, name) {
			continue
		}
		name = provider
		types = append(types, object{
			"resourceType": rest, "locations": []string{}, "apiVersions": apiVersions, "capabilities": "None",
		})
	}
	return object{
		"id":        subscriptionID(subscription).String() + "/" + providers + "/" + name,
		"namespace": name, "registrationState": "Registered", "registrationPolicy": "RegistrationRequired",
		"resourceTypes": types,
	}
}

func (m *Manager) listProviders(c *call) (answer, error) {
	names := providerNames()
	return list(c, len(names), func(i int) any { return shownProvider(c.id.Subscription, names[i]) })
}

// getProvider answers with a provider. All are registered, also those that Minibus does not have: clients ask before
// they ask for anything else.
func (m *Manager) getProvider(c *call) (answer, error) {
	return answer{status: http.StatusOK, body: shownProvider(c.id.Subscription, c.id.Provider)}, nil
}
