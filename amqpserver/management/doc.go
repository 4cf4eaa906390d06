// Package management answers requests to the $management node of an entity: everything that the SDKs do with a
// message except sending, receiving and settling it on a link.
//
// The connection's loop in amqpserver calls [Handle] with a request and routes the response. A request
// that changes something is answered when the change is durable, so the answer may come later and on another goroutine.
//
// The files follow the groups of operations: locks, settle, peek, schedule, deferred, delete, session, session_list, rules. Each
// operation is one function in the table of operations.go: it reads its arguments, calls the queue and encodes the
// result. It reads arguments leniently, because each SDK writes them with other types. It refuses those that it cannot read
// with an argument error that names the key.
//
// The session that a request means, and what the request may do in it, depend on its connection: the loop lends
// the connection's session consumers through [Context]. Operations that a transaction may contain go
// through it when the request names one; the others are refused then (TXN-1).
//
// The package owns no goroutine and no timer, keeps no state between requests, blocks on nothing, and never writes to
// a connection or a log.
package management
