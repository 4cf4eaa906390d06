// Package management answers requests to the $management node of an entity: everything that the SDKs do with a
// message except sending, receiving and settling it on a link.
//
// The connection's loop in amqpserver calls [Handle] with a request and routes the response. A change
// is answered once it is durable, so the answer may come later and on another goroutine.
//
// Each group of operations has its file: settle (with renewing locks), peek, schedule, deferred, delete, session,
// rules. Each operation is one function in the table of operations.go: it reads its arguments (args.go), calls the
// queue and encodes the result (call.go). It reads arguments leniently, because each SDK writes them with other types,
// and refuses those that it can't read with an argument error that names the key.
//
// A request's connection decides which session it is about and what it may do there: the loop lends the connection's
// session consumers through [Context]. A request may name a transaction; operations that can be part of one then go
// through it. Those whose effect a rollback would not undo are refused, the others answered as without it (TXN-1).
//
// The package owns no goroutine and no timer, keeps no state between requests, never blocks, and never writes to
// a connection or a log.
package management
