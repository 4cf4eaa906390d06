package export

import (
	"slices"
	"strings"

	"minibus/internal/sas"
)

// Resource describes a namespace itself, as Resource Manager has it. With it, modules make the namespace too.
type Resource struct {
	ID         string
	Group      string // resource group, which must exist where the module is used
	Location   string // empty: that of the group
	SKU        string // Basic, Standard or Premium
	Capacity   int    // messaging units, of Premium
	Tags       map[string]string
	KeysAreOff bool // disableLocalAuth
	System     bool // has an identity of its own
	Identities []string
	Access     []Access // policies, but for RootManageSharedAccessKey
	Roles      []Role
}

// Role is a role assignment.
type Role struct {
	Name          string // GUID of the assignment
	Scope         string // id of the resource where it is assigned
	Entity        string // path of the entity where it is assigned; empty: the namespace
	Role          string // name of the role; of one that is unknown, its GUID
	RoleID        string // its GUID
	Principal     string
	PrincipalType string
}

// extra returns the policies that modules make: each namespace has the first one already.
func (r *Resource) extra() []Access {
	return slices.DeleteFunc(slices.Clone(r.Access), func(a Access) bool {
		return strings.EqualFold(a.Name, sas.DefaultKeyName)
	})
}

// find returns the node of an entity; nil: there is none.
func (p *plan) find(path string) *node {
	if n := p.byPath[strings.ToLower(path)]; n != nil {
		return n
	}
	i := slices.IndexFunc(p.nodes, func(n *node) bool {
		return n.subscription != nil && strings.EqualFold(n.full, strings.Replace(path, "/Subscriptions/", "/", 1))
	})
	if i < 0 {
		return nil
	}
	return p.nodes[i]
}

func (r *Resource) identityType() string {
	var words []string
	if r.System {
		words = append(words, "SystemAssigned")
	}
	if len(r.Identities) > 0 {
		words = append(words, "UserAssigned")
	}
	return strings.Join(words, ", ")
}

// tags returns the tags in their order.
func (r *Resource) tags() object {
	var o object
	for _, name := range sortedKeys(r.Tags) {
		o = append(o, attr{name, r.Tags[name]})
	}
	return o
}

// bicep renders the namespace.
func (r *Resource) bicep(name string) string {
	location := any(expression("resourceGroup().location"))
	if r.Location != "" {
		location = r.Location
	}
	sku := object{{"name", r.SKU}, {"tier", r.SKU}}
	if r.Capacity > 0 {
		sku = append(sku, attr{"capacity", r.Capacity})
	}
	body := []attr{{"name", name}, {"location", location}}
	if len(r.Tags) > 0 {
		body = append(body, attr{"tags", r.tags()})
	}
	body = append(body, attr{"sku", sku})
	if kind := r.identityType(); kind != "" {
		identity := object{{"type", kind}}
		var assigned object
		for _, id := range r.Identities {
			assigned = append(assigned, attr{id, object{}})
		}
		if assigned != nil {
			identity = append(identity, attr{"userAssignedIdentities", assigned})
		}
		body = append(body, attr{"identity", identity})
	}
	if r.KeysAreOff {
		body = append(body, attr{"properties", object{{"disableLocalAuth", true}}})
	}
	return "resource " + bicepNamespace + " 'Microsoft.ServiceBus/namespaces@" + bicepVersion + "' = {\n" +
		bicepBody(body, "  ") + "}\n"
}

// bicepAccess renders the policies and the role assignments.
func (r *Resource) bicepAccess(p *plan) string {
	var b strings.Builder
	for _, a := range r.extra() {
		body := []attr{
			{"parent", expression(bicepNamespace)}, {"name", a.Name}, {"properties", object(bicepAccess(&a))},
		}
		b.WriteString("\nresource " + p.identifier("policy_"+a.Name) +
			" 'Microsoft.ServiceBus/namespaces/authorizationRules@" + bicepVersion + "' = {\n" +
			bicepBody(body, "  ") + "}\n")
	}
	for _, role := range r.Roles {
		scope := bicepNamespace
		if n := p.find(role.Entity); role.Entity != "" && n != nil {
			scope = n.id
		}
		body := []attr{
			{"scope", expression(scope)}, {"name", role.Name}, {"properties", object{
				{"roleDefinitionId", expression("subscriptionResourceId('Microsoft.Authorization/roleDefinitions', " +
					bicepString(role.RoleID) + ")")},
				{"principalId", role.Principal}, {"principalType", role.PrincipalType}}},
		}
		b.WriteString("\n" + comments("//", []string{role.Role}) + "resource " + p.identifier("role_"+role.Name) +
			" 'Microsoft.Authorization/roleAssignments@2022-04-01' = {\n" + bicepBody(body, "  ") + "}\n")
	}
	return b.String()
}

// terraform renders the namespace, whose resource group must exist.
func (r *Resource) terraform(name string) string {
	group := `data "azurerm_resource_group" "group" {` + "\n" + hclBody([]attr{{"name", r.Group}}, "  ") + "}\n\n"
	location := any(expression("data.azurerm_resource_group.group.location"))
	if r.Location != "" {
		location = r.Location
	}
	body := []attr{
		{"name", name}, {"resource_group_name", expression("data.azurerm_resource_group.group.name")},
		{"location", location}, {"sku", r.SKU},
	}
	if r.Capacity > 0 {
		body = append(body, attr{"capacity", r.Capacity}, attr{"premium_messaging_partitions", 1})
	}
	if r.KeysAreOff {
		body = append(body, attr{"local_auth_enabled", false})
	}
	if len(r.Tags) > 0 {
		body = append(body, attr{"tags", r.tags()})
	}
	if kind := r.identityType(); kind != "" {
		identity := block{{"type", kind}}
		if len(r.Identities) > 0 {
			var ids []any
			for _, id := range r.Identities {
				ids = append(ids, id)
			}
			identity = append(identity, attr{"identity_ids", ids})
		}
		body = append(body, attr{"identity", identity})
	}
	return group + `resource "azurerm_servicebus_namespace" "namespace" {` + "\n" + hclBody(body, "  ") + "}\n"
}

// terraformAccess renders the policies and the role assignments.
func (r *Resource) terraformAccess(p *plan) string {
	var b strings.Builder
	for _, a := range r.extra() {
		body := []attr{
			{"name", a.Name}, {"namespace_id", expression(terraformNamespace)}, {"listen", a.has("Listen")},
			{"send", a.has("Send")}, {"manage", a.has("Manage")},
		}
		b.WriteString("\nresource \"azurerm_servicebus_namespace_authorization_rule\" " +
			hclString(p.identifier(a.Name)) + " {\n" + hclBody(body, "  ") + "}\n")
	}
	for _, role := range r.Roles {
		scope := expression(terraformNamespace)
		if n := p.find(role.Entity); role.Entity != "" && n != nil {
			scope = n.reference("id")
		}
		definition := attr{"role_definition_name", role.Role}
		if role.Role == role.RoleID {
			subscription, _, _ := strings.Cut(r.ID, "/resourceGroups/")
			definition = attr{"role_definition_id", subscription +
				"/providers/Microsoft.Authorization/roleDefinitions/" + role.RoleID}
		}
		body := []attr{
			{"name", role.Name}, {"scope", scope}, definition,
			{"principal_id", role.Principal}, {"principal_type", role.PrincipalType},
		}
		b.WriteString("\nresource \"azurerm_role_assignment\" " + hclString(p.identifier("role_"+role.Name)) + " {\n" +
			hclBody(body, "  ") + "}\n")
	}
	return b.String()
}

const terraformNamespace = "azurerm_servicebus_namespace.namespace.id"
