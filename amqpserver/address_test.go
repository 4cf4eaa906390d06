package amqpserver

import (
	"testing"

	"minibus/emulator"
)

func TestParseAddress(t *testing.T) { // amqp-data-plane 3.1
	for _, c := range []struct {
		address string
		want    node
	}{
		{"queue", node{kind: nodeEntity, path: "queue", sub: emulator.Main}},
		{"/queue", node{kind: nodeEntity, path: "queue", sub: emulator.Main}},
		{"a/b/c", node{kind: nodeEntity, path: "a/b/c", sub: emulator.Main}},
		{"amqps://ns.servicebus.windows.net/queue",
			node{kind: nodeEntity, host: "ns.servicebus.windows.net", path: "queue", sub: emulator.Main}},
		{"AMQPS://localhost:5672/a/b/", node{kind: nodeEntity, host: "localhost:5672", path: "a/b",
			sub: emulator.Main}},
		{"sb://[::1]:5672/queue", node{kind: nodeEntity, host: "[::1]:5672", path: "queue", sub: emulator.Main}},
		{"https://h/queue", node{kind: nodeEntity, host: "h", path: "queue", sub: emulator.Main}},
		{"ftp://h/queue", node{kind: nodeEntity, path: "ftp://h/queue", sub: emulator.Main}},
		{"amqp://h", node{kind: nodeEntity, host: "h", path: "", sub: emulator.Main}},
		{"", node{kind: nodeEntity, path: "", sub: emulator.Main}},
		{"/my%20queue", node{kind: nodeEntity, path: "my queue", sub: emulator.Main}},
		{"a%2Fb", node{kind: nodeEntity, path: "a/b", sub: emulator.Main}},
		{"100%", node{kind: nodeEntity, path: "100%", sub: emulator.Main}},
		{"queue/$DeadLetterQueue", node{kind: nodeEntity, path: "queue", sub: emulator.DeadLetter}},
		{"queue/$deadletterqueue", node{kind: nodeEntity, path: "queue", sub: emulator.DeadLetter}},
		{"/queue/%24DeadLetterQueue", node{kind: nodeEntity, path: "queue", sub: emulator.DeadLetter}},
		{"queue/$Transfer/$DeadLetterQueue", node{kind: nodeEntity, path: "queue", sub: emulator.TransferDeadLetter}},
		{"topic/Subscriptions/sub", node{kind: nodeEntity, path: "topic/Subscriptions/sub", sub: emulator.Main}},
		{"topic/subscriptions/sub/$DeadLetterQueue/$management",
			node{kind: nodeManagement, path: "topic/subscriptions/sub", sub: emulator.DeadLetter}},
		{"queue/$management", node{kind: nodeManagement, path: "queue", sub: emulator.Main}},
		{"queue/$Management", node{kind: nodeManagement, path: "queue", sub: emulator.Main}},
		{"amqp://h/queue/%24management", node{kind: nodeManagement, host: "h", path: "queue", sub: emulator.Main}},
		{"$management", node{kind: nodeManagement, path: "", sub: emulator.Main}},
		{"my$management", node{kind: nodeEntity, path: "my$management", sub: emulator.Main}},
		{"$cbs", node{kind: nodeCBS, path: "", sub: emulator.Main}},
		{"/$CBS", node{kind: nodeCBS, path: "", sub: emulator.Main}},
		{"amqp://h/$cbs", node{kind: nodeCBS, host: "h", path: "", sub: emulator.Main}},
	} {
		if got := parseAddress(c.address); got != c.want {
			t.Errorf("parseAddress(%q) = %+v, want %+v", c.address, got, c.want)
		}
	}
}

func TestNodeKey_TellsNodesApartWithoutCase(t *testing.T) {
	same := []string{"q/$management", "/Q/%24Management", "amqps://h:1/q/$management"}
	for _, a := range same {
		if k := parseAddress(a).key(); k != "q/$management" {
			t.Errorf("key of %q is %q", a, k)
		}
	}
	if parseAddress("q/$deadletterqueue/$management").key() == parseAddress("q/$management").key() {
		t.Error("a queue and its dead-letter queue have the same key")
	}
}

func FuzzParseAddress(f *testing.F) {
	for _, s := range []string{"q", "/q", "amqps://h/q/$DeadLetterQueue/$management", "$cbs", "%",
		"%2", "//", "a://b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n := parseAddress(s)
		if again := parseAddress(n.String()); n.kind != nodeCBS && again.key() != n.key() && s == n.String() {
			t.Errorf("%q is %+v, and %q is %+v", s, n, n.String(), again)
		}
	})
}
