// Package management answers requests to the $management node of an entity: everything that the SDKs do with a
// message otherwise than by sending, receiving and settling it on a link.
//
// The connection's loop in amqpserver calls [Handle] with a request and routes the response that comes back. Requests
// that change something are answered when the change is durable, so the answer may come later and on another goroutine.
//
// The files follow the groups of operations: locks, settle, peek, schedule, deferred, delete, session, session_list, rules. Each
// operation is one function in the table of operations.go: it reads its arguments, calls the queue and encodes the
// result. Arguments are read leniently, because each SDK writes them with other types; what cannot be read is refused
// with an argument error that names the key.
//
// What a request may do in a session, and which one it means, depends on the connection that it came on: the loop lends
// the connection's session consumers through [Context]. Of the operations, those that may be part of a transaction go
// through it when the request names one; the others are refused then (TXN-1).
//
// The package owns no goroutine and no timer, keeps no state between requests, blocks on nothing, and never writes to
// a connection or a log.
package management
