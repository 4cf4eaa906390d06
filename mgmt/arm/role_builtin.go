package arm

import "minibus/internal/sas"

// permission is what a role allows: actions on resources and on data, with "*" for any text.
type permission struct {
	Actions        []string `json:"actions"`
	NotActions     []string `json:"notActions"`
	DataActions    []string `json:"dataActions"`
	NotDataActions []string `json:"notDataActions"`
}

// builtIn is a role that Azure itself defines.
type builtIn struct {
	id, name, description string
	permission
}

// The roles of Service Bus data.
const (
	dataOwner    = "090c5cfd-751d-490a-894a-3ce6f1109419"
	dataSender   = "69a216fc-b8fb-44d8-bc22-1f3c2cd27a39"
	dataReceiver = "4f6d3b9b-027b-4f4c-9142-0e5a2a2247e0"
)

var readEntities = []string{"Microsoft.ServiceBus/*/queues/read", "Microsoft.ServiceBus/*/topics/read",
	"Microsoft.ServiceBus/*/topics/subscriptions/read"}

// builtInRoles are those of Service Bus, those of resources, and others that stand beside Service Bus in templates.
// A template may assign any other role by its GUID.
var builtInRoles = []builtIn{
	{dataOwner, "Azure Service Bus Data Owner", "Allows for full access to Azure Service Bus resources.",
		permission{Actions: []string{"Microsoft.ServiceBus/*"}, DataActions: []string{"Microsoft.ServiceBus/*"}}},
	{dataSender, "Azure Service Bus Data Sender", "Allows for send access to Azure Service Bus resources.",
		permission{Actions: readEntities, DataActions: []string{"Microsoft.ServiceBus/*/send/action"}}},
	{dataReceiver, "Azure Service Bus Data Receiver", "Allows for receive access to Azure Service Bus resources.",
		permission{Actions: readEntities, DataActions: []string{"Microsoft.ServiceBus/*/receive/action"}}},

	{"8e3af657-a8ff-443c-a75c-2fe8c4bcb635", "Owner", "Grants full access to manage all resources, including the " +
		"ability to assign roles in Azure RBAC.", permission{Actions: []string{"*"}}},
	{"b24988ac-6180-42a0-ab88-20f7382dd24c", "Contributor", "Grants full access to manage all resources, but does " +
		"not allow you to assign roles in Azure RBAC.", permission{Actions: []string{"*"}, NotActions: []string{
		"Microsoft.Authorization/*/Delete", "Microsoft.Authorization/*/Write",
		"Microsoft.Authorization/elevateAccess/Action"}}},
	{"acdd72a7-3385-48ef-bd42-f606fba81ae7", "Reader", "View all resources, but does not allow you to make any " +
		"changes.",
		permission{Actions: []string{"*/read"}}},
	{"18d7d88d-d35e-4fb5-a5c3-7773c20a72d9", "User Access Administrator", "Lets you manage user access to Azure " +
		"resources.", permission{Actions: []string{"*/read", "Microsoft.Authorization/*", "Microsoft.Support/*"}}},

	{"00482a5a-887f-4fb3-b363-3b7fe8e74483", "Key Vault Administrator", "Perform all data plane operations on a key " +
		"vault and all objects in it.", permission{DataActions: []string{"Microsoft.KeyVault/vaults/*"}}},
	{"b86a8fe4-44ce-4948-aee5-eccb2c155cd7", "Key Vault Secrets Officer", "Perform any action on the secrets of a " +
		"key vault, except manage " +
		"permissions.", permission{DataActions: []string{"Microsoft.KeyVault/vaults/secrets/*"}}},
	{"4633458b-17de-408a-b874-0445c86b69e6", "Key Vault Secrets User", "Read secret contents.", permission{
		DataActions: []string{"Microsoft.KeyVault/vaults/secrets/getSecret/action",
			"Microsoft.KeyVault/vaults/secrets/readMetadata/action"}}},
	{"7f951dda-4ed3-4680-a7ca-43fe172d538d", "AcrPull", "acr pull",
		permission{Actions: []string{"Microsoft.ContainerRegistry/registries/pull/read"}}},
	{"8311e382-0749-4cb8-b61a-304f252e45ec", "AcrPush", "acr push", permission{Actions: []string{
		"Microsoft.ContainerRegistry/registries/pull/read", "Microsoft.ContainerRegistry/registries/push/write"}}},
	{"b7e6dc6d-f1e8-4753-8033-0f276bb0955b", "Storage Blob Data Owner", "Allows for full access to Azure Storage " +
		"blob containers and data.", permission{
		DataActions: []string{"Microsoft.Storage/storageAccounts/blobServices/containers/blobs/*"}}},
	{"ba92f5b4-2d11-453d-a403-e96b0029c9fe", "Storage Blob Data Contributor", "Allows for read, write and delete " +
		"access to Azure Storage blob containers and data.", permission{DataActions: []string{
		"Microsoft.Storage/storageAccounts/blobServices/containers/blobs/read",
		"Microsoft.Storage/storageAccounts/blobServices/containers/blobs/write",
		"Microsoft.Storage/storageAccounts/blobServices/containers/blobs/delete"}}},
	{"2a2b9908-6ea1-4ae2-8e65-a410df84e7d1", "Storage Blob Data Reader", "Allows for read access to Azure Storage " +
		"blob containers and data.", permission{
		DataActions: []string{"Microsoft.Storage/storageAccounts/blobServices/containers/blobs/read"}}},
	{"974c5e8b-45b9-4653-ba55-5f855dd0fb88", "Storage Queue Data Contributor", "Allows for read, write and delete " +
		"access to Azure Storage queues and queue messages.", permission{
		DataActions: []string{"Microsoft.Storage/storageAccounts/queueServices/queues/messages/*"}}},
	{"0a9a7e1f-b9d0-4cc4-a60d-0319b160aaa3", "Storage Table Data Contributor", "Allows for read, write and delete " +
		"access to Azure Storage tables and entities.", permission{
		DataActions: []string{"Microsoft.Storage/storageAccounts/tableServices/tables/entities/*"}}},
	{"3913510d-42f4-4e42-8a64-420c390055eb", "Monitoring Metrics Publisher", "Enables publishing metrics against " +
		"Azure resources.", permission{DataActions: []string{"Microsoft.Insights/Metrics/Write"}}},
	{"f1a07417-d97a-45cb-824c-7a7467783830", "Managed Identity Operator", "Read and assign user-assigned identities.",
		permission{Actions: []string{"Microsoft.ManagedIdentity/userAssignedIdentities/*/read",
			"Microsoft.ManagedIdentity/userAssignedIdentities/*/assign/action"}}},
}

// builtInClaims holds what the built-in roles give on the data of Service Bus, by GUID.
var builtInClaims = func() map[string]sas.Claims {
	all := map[string]sas.Claims{}
	for _, r := range builtInRoles {
		if c := r.claims(); c != 0 {
			all[r.id] = c
		}
	}
	return all
}()
