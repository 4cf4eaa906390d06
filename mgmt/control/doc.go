// Package control is the control API of Minibus, which makes namespaces with their entities, lists and deletes them while the process runs. It is
// JSON over HTTP under /$minibus/v1/; openapi.json describes it and is served there.
//
// Package mgmt mounts the handler that [New] makes, and checks before it who calls. Package server implements [Server]. The package owns no
// goroutine, and never keeps anything itself. An answer comes when the change is durable.
package control
