package api

// Resource is what Resource Manager knows of a namespace.
type Resource struct {
	ID               string            `json:"id" pattern:"^/subscriptions/"`
	Subscription     string            `json:"subscription" format:"uuid"`
	ResourceGroup    string            `json:"resourceGroup"`
	Location         string            `json:"location"`
	SKU              string            `json:"sku" enum:"Basic,Standard,Premium"`
	Capacity         int               `json:"capacity,omitempty" minimum:"1" doc:"Messaging units, of Premium"`
	Tags             map[string]string `json:"tags" nullable:"false"`
	DisableLocalAuth bool              `json:"disableLocalAuth" doc:"Whether keys are refused where they are checked"`

	Policies        []ResourcePolicy   `json:"policies" nullable:"false" doc:"Without their keys"`
	Identities      []ResourceIdentity `json:"identities" nullable:"false" doc:"That it has, or that have a role in it"`
	RoleAssignments []RoleAssignment   `json:"roleAssignments" nullable:"false" doc:"Those above it first"`
	WithoutEffect   []StoredResource   `json:"withoutEffect" nullable:"false" doc:"What is kept of it and shown"`
}

// ResourcePolicy is a shared access policy of a namespace or of an entity in it.
type ResourcePolicy struct {
	Name   string   `json:"name"`
	Entity string   `json:"entity,omitempty" doc:"Its path; none: the namespace"`
	Rights []string `json:"rights" nullable:"false" enum:"Manage,Send,Listen"`
}

// ResourceIdentity is an identity.
type ResourceIdentity struct {
	ID          string `json:"id,omitempty" doc:"Of the user-assigned one; none: the namespace's own"`
	PrincipalID string `json:"principalId" format:"uuid"`
	ClientID    string `json:"clientId" format:"uuid"`
}

// RoleAssignment is a role assignment that counts in a namespace.
type RoleAssignment struct {
	ID            string   `json:"id"`
	Role          string   `json:"role" doc:"Its name; of other services, the GUID"`
	RoleID        string   `json:"roleId" format:"uuid"`
	Rights        []string `json:"rights" nullable:"false" enum:"Manage,Send,Listen" doc:"On messages and entities"`
	PrincipalID   string   `json:"principalId" format:"uuid"`
	PrincipalType string   `json:"principalType"`
	Identity      string   `json:"identity,omitempty" doc:"The id of its resource, or developer; none: unknown"`
	Scope         string   `json:"scope" doc:"The id of the resource where it is assigned"`
	Above         bool     `json:"above" doc:"Whether that is above the namespace"`
	Entity        string   `json:"entity,omitempty" doc:"The path of the entity where it is assigned"`
	Description   string   `json:"description,omitempty"`
}

// StoredResource is a resource that has no effect.
type StoredResource struct {
	ID   string `json:"id"`
	Type string `json:"type"`
}
