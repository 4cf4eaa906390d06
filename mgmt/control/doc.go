// Package control is the control API of Minibus, which shows and steers a running process: JSON over HTTP under
// /$minibus/v1/.
//
// The Go types of arguments and answers are the API's description: Huma reads and checks requests by them and makes
// the OpenAPI document, which is served at [DocumentPath]. What has the form of Config.json is described in
// configjson.json instead, since package config reads it. Each area of the API has a file, a method of handler that
// registers its operations, and a tag in the document.
//
// Package mgmt mounts the handler that [New] makes, and checks before it who calls. Package server implements
// [Server]. The package owns no goroutine, and never keeps anything itself. An answer comes when the change is
// durable.
package control
