// Package api has the bodies of the control API's answers, and of requests that clients in Go make: plain structs
// with JSON names.
//
// Package mgmt/control fills them; Huma makes the OpenAPI document from their tags. Packages cli and sbtest read
// them. What has the form of Config.json is not here. The package owns no goroutine, and has no behaviour.
package api
