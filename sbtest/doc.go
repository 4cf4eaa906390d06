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
// Tests that run in parallel may share one server, for example one of TestMain's, if each has a [Server.Namespace] of
// its own.
//
// No test has to wait. [Server.Advance] lets an hour pass for the broker in a moment, [Namespace.Advance] for one
// namespace. Inside a testing/synctest bubble time passes by itself; sockets do not work there, so start the server
// with [WithoutNetwork] and connect through [Server.Dial].
//
// [Server.Connections] shows the clients with their links, and [Server.Why] says why a receiver gets nothing. A test can
// close a connection or detach a link, to see its program recover. [Server.Inject] lets operations go wrong: throttled, refused, delayed, with a lost lock.
//
// [Server.WaitIdle] and [Server.Wait] wait for the program that is tested, and [Server.Life] and [Server.History] say what became of its messages.
//
// The goroutines are those of package server; the cleanup of the test ends them and waits. The package never reads
// the environment, a configuration file or the disk.
package sbtest
