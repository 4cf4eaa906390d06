// Package sbtest runs Minibus, a local Azure Service Bus, inside a Go test, as net/http/httptest runs a web server:
//
//	func TestOrders(t *testing.T) {
//		bus := sbtest.Start(t, sbtest.Queue{Name: "orders"})
//		client, err := azservicebus.NewClientFromConnectionString(bus.ConnectionString(), nil)
//		...
//	}
//
// The server runs in the process of the test. It keeps messages in memory, listens on free ports of the loopback
// interface, and ends with the test, so tests can run in parallel. A [Queue] and a [Topic] declare what it has; the
// other options start with With.
//
// Tests that run in parallel may share one server, for example one of TestMain's, if each has a namespace of its own,
// from [Server.NewNamespace]. A [Server] has the methods of its default namespace.
//
// No test has to wait. [Server.Advance] lets an hour pass for the broker in a moment, [Namespace.Advance] for one
// namespace. Inside a testing/synctest bubble time passes by itself. Sockets do not work there, so [Start] opens
// none, and the client connects through [InMemory].
//
// [Namespace.Connections] shows the clients with their links, and [Namespace.Why] says why a receiver gets nothing. A
// test can close a connection or detach a link, to see its program recover. [Namespace.Inject] lets operations go
// wrong: throttled, refused, delayed, with a lost lock.
//
// [Namespace.WaitFor] waits for the program that is tested, and [Namespace.History], [Namespace.DeadLetters] and
// [Namespace.Events] say what became of its messages. The packages for other languages have the same verbs.
//
// The goroutines are those of package server; the cleanup of the test ends them and waits. The package never reads the
// environment, a configuration file or the disk. All types of its functions are its own or of the standard library.
package sbtest
