// Package dropin starts the image of Minibus with Testcontainers for Go and uses it with Azure's client. It is a module of its own,
// since Testcontainers brings many others. .ci/docker-test compiles and runs it.
package dropin
