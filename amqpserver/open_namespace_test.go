package amqpserver

import (
	"errors"
	"net"
	"testing"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/store/storetest"
)

// A namespace may go between the moment at which a connection finds it and the one at which it is counted there.
func TestDEC11_NothingEntersANamespaceThatIsGone(t *testing.T) {
	m := storetest.NewMemory()
	defer m.Close()
	broker, err := emulator.OpenBroker(m, emulator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer broker.Close()
	ns, err := broker.Create("orders", emulator.NamespaceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	client, server := net.Pipe()
	defer client.Close()
	defer server.Close()
	c := newConn(New(broker, Options{}), server, "c1")
	c.ns = ns
	if err := broker.Delete("orders"); err != nil {
		t.Fatal(err)
	}
	var failure amqpError
	if err := c.srv.enter(c); !errors.As(err, &failure) || failure.condition != amqp.CondForced {
		t.Errorf("it enters: %v", err)
	}
	if len(c.srv.namespaces) != 0 {
		t.Error("it is counted")
	}
}
