// Package mgmt is the HTTP side of Minibus. Today it answers the operational endpoints (health, liveness, readiness); the
// administration API of Service Bus follows, and until then every other path is refused with 501, so that nobody takes
// silence for success.
//
// internal/app makes the handler with [New] and serves it with [NewServer]. The package owns no goroutine besides those of
// net/http, and it never starts or stops anything.
package mgmt
