// Package identity gives out tokens: as a managed identity of App Service, of a virtual machine and of Cloud Shell, and
// as Microsoft Entra ID does over OAuth 2.0 and OpenID Connect. So a program with DefaultAzureCredential needs no
// cloud.
//
// Package mgmt leads requests here, after it has refused those of web pages. The tokens come from internal/entra. What
// their holders may do is decided elsewhere. The package has no goroutine; a [Service] is safe for concurrent use, and
// keeps the device codes that wait for their user.
package identity
