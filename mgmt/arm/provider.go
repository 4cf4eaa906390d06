package arm

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// providersType is the kind of what has types of resources.
const providersType = own + "/subscriptions/providers"

func init() {
	register(kind{
		name: providersType, list: (*Manager).listProviders,
		methods: map[string]operation{http.MethodGet: (*Manager).getProvider},
		actions: map[string]operation{
			"register": (*Manager).getProvider, "unregister": (*Manager).getProvider,
		},
	})
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
	var types []object
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
		"resourceTypes": slices.Concat([]object{}, types),
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
