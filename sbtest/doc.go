// Package sbtest runs a whole Minibus inside a Go test, as net/http/httptest runs a server:
//
//	func TestOrders(t *testing.T) {
//		bus := sbtest.Start(t, sbtest.Queue("orders", emulator.QueueOptions{}))
//		client, err := azservicebus.NewClientFromConnectionString(bus.ConnectionString(), nil)
//		...
//	}
//
// Each server is on its own: its ports are free ones of the loopback interface, its messages are in memory, and it ends with the
// test. Sockets do not work inside a testing/synctest bubble: start the server there with [WithoutNetwork] and connect through
// [Server.Dial]. Then lock expiry, schedules and times to live pass without waiting.
//
// Tests call it. The goroutines are those of package server; the test's cleanup ends them and waits. The package never reads the
// environment, a configuration file or the disk.
package sbtest
