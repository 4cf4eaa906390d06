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
		{"queue", node{nodeEntity, "queue", emulator.Main}},
		{"/queue", node{nodeEntity, "queue", emulator.Main}},
		{"a/b/c", node{nodeEntity, "a/b/c", emulator.Main}},
		{"amqps://ns.servicebus.windows.net/queue", node{nodeEntity, "queue", emulator.Main}},
		{"AMQPS://localhost:5672/a/b/", node{nodeEntity, "a/b", emulator.Main}},
		{"sb://[::1]:5672/queue", node{nodeEntity, "queue", emulator.Main}},
		{"https://h/queue", node{nodeEntity, "queue", emulator.Main}},
		{"ftp://h/queue", node{nodeEntity, "ftp://h/queue", emulator.Main}},
		{"amqp://h", node{nodeEntity, "", emulator.Main}},
		{"", node{nodeEntity, "", emulator.Main}},
		{"/my%20queue", node{nodeEntity, "my queue", emulator.Main}},
		{"a%2Fb", node{nodeEntity, "a/b", emulator.Main}},
		{"100%", node{nodeEntity, "100%", emulator.Main}},
		{"queue/$DeadLetterQueue", node{nodeEntity, "queue", emulator.DeadLetter}},
		{"queue/$deadletterqueue", node{nodeEntity, "queue", emulator.DeadLetter}},
		{"/queue/%24DeadLetterQueue", node{nodeEntity, "queue", emulator.DeadLetter}},
		{"queue/$Transfer/$DeadLetterQueue", node{nodeEntity, "queue", emulator.TransferDeadLetter}},
		{"topic/Subscriptions/sub", node{nodeEntity, "topic/Subscriptions/sub", emulator.Main}},
		{"topic/subscriptions/sub/$DeadLetterQueue/$management", node{nodeManagement, "topic/subscriptions/sub", emulator.DeadLetter}},
		{"queue/$management", node{nodeManagement, "queue", emulator.Main}},
		{"queue/$Management", node{nodeManagement, "queue", emulator.Main}},
		{"amqp://h/queue/%24management", node{nodeManagement, "queue", emulator.Main}},
		{"$management", node{nodeManagement, "", emulator.Main}},
		{"my$management", node{nodeEntity, "my$management", emulator.Main}},
		{"$cbs", node{nodeCBS, "", emulator.Main}},
		{"/$CBS", node{nodeCBS, "", emulator.Main}},
		{"amqp://h/$cbs", node{nodeCBS, "", emulator.Main}},
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
	for _, s := range []string{"q", "/q", "amqps://h/q/$DeadLetterQueue/$management", "$cbs", "%", "%2", "//", "a://b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n := parseAddress(s)
		if again := parseAddress(n.String()); n.kind != nodeCBS && again.key() != n.key() && s == n.String() {
			t.Errorf("%q is %+v, and %q is %+v", s, n, n.String(), again)
		}
	})
}
