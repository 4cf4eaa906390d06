// Package sbtest runs a whole Minibus inside a Go test, in the manner of net/http/httptest:
//
//	func TestOrders(t *testing.T) {
//		bus := sbtest.Start(t, sbtest.Queue("orders", emulator.QueueOptions{}))
//		client, err := azservicebus.NewClientFromConnectionString(bus.ConnectionString(), nil)
//		...
//	}
//
// Each server is on its own: its ports are free ones of the loopback interface, its messages live in memory, and it ends with the
// test. Inside a testing/synctest bubble, where sockets do not work, start it with [WithoutNetwork] and connect through
// [Server.Dial]; then lock expiry, schedules and times to live pass without waiting.
//
// Tests call it. The goroutines are those of package server; the test's cleanup ends them and waits. It never reads the
// environment, a configuration file or the disk.
package sbtest
