package arm

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"minibus/emulator"
	"minibus/internal/entitypath"
)

// What is there without anybody having made it: the subscription and the resource group of all namespaces that were
// made elsewhere, such as the default one, and the tenant of all subscriptions.
const (
	DefaultSubscription = "00000000-0000-0000-0000-000000000000"
	DefaultGroup        = "minibus"
	Tenant              = "00000000-0000-0000-0000-000000000000"
)

func init() {
	register(kind{
		name: own + "/subscriptions", list: (*Manager).listSubscriptions,
		methods: map[string]operation{http.MethodGet: (*Manager).getSubscription},
	})
	register(kind{name: own + "/tenants", list: (*Manager).listTenants})
	register(kind{name: own + "/subscriptions/locations", list: (*Manager).listLocations})
}

// checkScope fails for a subscription that no id can have, and for a resource group that does not exist.
func (m *Manager) checkScope(id ID, k kind) error {
	if id.isMisplaced() {
		return notFound("InvalidResourceType", "The id names no resource: a namespace is in a resource group.")
	}
	if id.isElsewhere() {
		return notFound("InvalidResourceType", "Minibus deploys to resource groups and subscriptions, not to '%.300s'.",
			cmp.Or(id.Scope, "/"))
	}
	if id.Subscription == "" {
		return nil
	}
	if _, err := uuid.Parse(id.Subscription); err != nil || len(id.Subscription) != len(DefaultSubscription) {
		return badRequest("InvalidSubscriptionId", "The provided subscription identifier '%.60s' is malformed or "+
			"invalid.", id.Subscription)
	}
	if id.Group != "" && !k.ungated && !m.groupExists(id.groupOf()) {
		return groupNotFound(id.Group)
	}
	return nil
}

// isMisplaced reports whether an id names a namespace, or what is in one, that is in no resource group, or in another
// resource. Lists of namespaces are of a subscription too.
func (id ID) isMisplaced() bool {
	if !within(strings.ToLower(id.Type()), strings.ToLower(serviceBus+"/namespaces")) {
		return false
	}
	if len(id.Names) == 0 && id.Subscription != "" && id.Scope == subscriptionID(id.Subscription).String() {
		return false
	}
	return id.Group == "" || id.Scope != id.groupOf().String()
}

// isElsewhere reports whether an id names deployments, or what they have, that are neither in a resource group nor in a
// subscription.
func (id ID) isElsewhere() bool {
	return within(strings.ToLower(id.Type()), strings.ToLower(deploymentsType)) &&
		id.Scope != id.groupOf().String() && id.Scope != subscriptionID(id.Subscription).String()
}

func groupNotFound(name string) error {
	return notFound("ResourceGroupNotFound", "Resource group '%.100s' could not be found.", name)
}

// subscriptionsOf returns the subscriptions that hold something, the default one first.
func (m *Manager) subscriptions() []string {
	all := []string{DefaultSubscription}
	for _, key := range m.keys(ID{}) {
		id := mustParse(key)
		if id.Subscription != "" && !slices.Contains(all, id.Subscription) {
			all = append(all, id.Subscription)
		}
	}
	return all
}

// listSubscriptions answers with the subscriptions that hold something. Every other id of one is as good.
func (m *Manager) listSubscriptions(c *call) (answer, error) {
	all := m.subscriptions()
	return list(c, len(all), func(i int) any { return shownSubscription(all[i]) })
}

func (m *Manager) getSubscription(c *call) (answer, error) {
	return answer{status: http.StatusOK, body: shownSubscription(strings.ToLower(c.id.Subscription))}, nil
}

func shownSubscription(id string) object {
	return object{
		"id": subscriptionID(id).String(), "subscriptionId": id, "tenantId": Tenant, "displayName": "Minibus",
		"state": "Enabled", "managedByTenants": []any{}, "authorizationSource": "RoleBased", "tags": object{},
		"subscriptionPolicies": object{
			"locationPlacementId": "Public_2014-09-01", "quotaId": "PayAsYouGo_2014-09-01", "spendingLimit": "Off",
		},
	}
}

func (m *Manager) listTenants(c *call) (answer, error) {
	return list(c, 1, func(int) any {
		return object{
			"id": "/tenants/" + Tenant, "tenantId": Tenant, "displayName": "Minibus", "countryCode": "US",
			"domains": []string{"minibus.localhost"}, "defaultDomain": "minibus.localhost", "tenantCategory": "Home",
			"tenantType": "AAD",
		}
	})
}

// locations are the regions that clients offer, by name. Minibus takes any text for one.
var locations = [][2]string{
	{DefaultLocation, "Local"},
	{"australiaeast", "Australia East"}, {"brazilsouth", "Brazil South"}, {"canadacentral", "Canada Central"},
	{"centralindia", "Central India"}, {"centralus", "Central US"}, {"eastasia", "East Asia"},
	{"eastus", "East US"}, {"eastus2", "East US 2"}, {"francecentral", "France Central"},
	{"germanywestcentral", "Germany West Central"}, {"italynorth", "Italy North"}, {"japaneast", "Japan East"},
	{"koreacentral", "Korea Central"}, {"northcentralus", "North Central US"}, {"northeurope", "North Europe"},
	{"norwayeast", "Norway East"}, {"polandcentral", "Poland Central"}, {"southafricanorth", "South Africa North"},
	{"southcentralus", "South Central US"}, {"southeastasia", "Southeast Asia"}, {"spaincentral", "Spain Central"},
	{"swedencentral", "Sweden Central"}, {"switzerlandnorth", "Switzerland North"}, {"uaenorth", "UAE North"},
	{"uksouth", "UK South"}, {"ukwest", "UK West"}, {"westcentralus", "West Central US"},
	{"westeurope", "West Europe"}, {"westus", "West US"}, {"westus2", "West US 2"}, {"westus3", "West US 3"},
}

// DefaultLocation is the location of what was made elsewhere.
const DefaultLocation = "local"

// sameLocation reports whether two texts name one location: West Europe is westeurope.
func sameLocation(a, b string) bool { return plainLocation(a) == plainLocation(b) }

func plainLocation(s string) string { return strings.ToLower(strings.ReplaceAll(s, " ", "")) }

// shownLocation returns the service's name of a location, as answers about namespaces show it.
func shownLocation(s string) string {
	for _, l := range locations[1:] {
		if sameLocation(l[0], s) {
			return l[1]
		}
	}
	return s
}

func (m *Manager) listLocations(c *call) (answer, error) {
	return list(c, len(locations), func(i int) any {
		name, shown := locations[i][0], locations[i][1]
		return object{
			"id": subscriptionID(c.id.Subscription).Child("locations", name).String(), "name": name, "type": "Region",
			"displayName": shown, "regionalDisplayName": shown,
			"metadata": object{
				"regionType": "Physical", "regionCategory": "Recommended", "geographyGroup": "Local",
				"geography": "Local",
				"latitude":  "0", "longitude": "0", "physicalLocation": "Local", "pairedRegion": []any{},
			},
		}
	})
}

// Endpoints returns what clients ask for before anything else, at /metadata/endpoints: where the rest is. base is the
// scheme and host by which the client reaches this server.
func Endpoints(base string) object {
	return object{
		"name": "Minibus", "portal": base, "resourceManager": base, "management": base, "gallery": base, "graph": base,
		"microsoftGraphResourceId": base, "batch": base, "media": base, "sqlManagement": base,
		"authentication": object{
			"loginEndpoint": base, "audiences": []string{base, "https://management.azure.com/"}, "tenant": "common",
			"identityProvider": "AAD",
		},
		"suffixes": object{
			"storage": "core.windows.net", "keyVaultDns": "vault.azure.net", "acrLoginServer": "azurecr.io",
			"sqlServerHostname": "database.windows.net", "serviceBusEndpointSuffix": "servicebus.windows.net",
		},
	}
}

// Scope returns the id of a namespace as a resource or, with the path of an entity in it, of that queue, topic or
// subscription. An entity that does not exist counts as a queue. One that has a tilde in its name, or whose topic has,
// has no id of its own: it gets that of the namespace.
func (m *Manager) Scope(ns *emulator.Namespace, path string) string {
	return m.scope(ns, path).String()
}

func (m *Manager) scope(ns *emulator.Namespace, path string) ID {
	id := m.namespaceID(ns)
	if path = entitypath.Entity(path); path == "" {
		return id
	}
	if topic, name, ok := entitypath.SplitSubscription(path); ok {
		if hasNoID(topic) {
			return id
		}
		return id.Child("topics", idName(topic)).Child("subscriptions", idName(name))
	}
	if hasNoID(path) {
		return id
	}
	if kind, _ := ns.Kind(path); kind == emulator.KindTopic {
		return id.Child("topics", idName(path))
	}
	return id.Child("queues", idName(path))
}
