// Package mcp serves the operations of the control API as tools over the Model Context Protocol, for coding
// assistants.
//
// The tools come from the API's OpenAPI document: name, description, arguments, and whether an operation only reads.
// So an operation of the API is a tool without a line here. Package cli calls [Serve] and sends the requests. The
// goroutines are those of the protocol's SDK, which end with Serve. The package never opens a connection, and writes
// nothing but the protocol.
package mcp
