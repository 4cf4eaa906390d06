// Package arm serves Azure Resource Manager for the namespaces of a process, to the clients of its own: az, Terraform
// and the management SDKs. It is an adapter beside the administration of package mgmt, over the same domain: what one
// changes, the other shows at once.
//
// A [Manager] does requests one by one, in memory: [Manager.Serve] for those that come over HTTP, and deployments for
// those that a template holds. Each type of resource is a [kind] in a registry; a file adds its own in an init
// function. What Resource Manager knows and the domain does not, such as tags and resource groups, are documents: JSON
// by the lower-case id of the resource, durable before a request is answered.
//
// Package mgmt calls it for every request that [Wanted] recognises, after it has checked the token. It owns no
// goroutine. Changes are made one after another.
package arm
