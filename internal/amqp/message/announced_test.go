package message_test

import (
	"testing"

	"minibus/internal/amqp/message"
)

func TestAnnounced(t *testing.T) {
	const (
		head = "\x00\x53\x70\xc0\x02\x01\x41"             // 7 bytes: a header with durable
		data = "\x00\x53\x75\xb0\x00\x10\x00\x00"         // a data section of 1 MiB begins
		text = "\x00\x53\x77\xb1\x00\x10\x00\x00"         // a value section with a string
		list = "\x00\x53\x76\xd0\x00\x10\x00\x00"         // a sequence section
		name = "\x00\xa3\x10amqp:data:binary\xb0\x00\x10" // its size is cut
	)
	for _, c := range []struct {
		first string
		want  uint64
	}{
		{data + "abc", 8 + 1<<20},
		{head + data, 7 + 8 + 1<<20},
		{text, 8 + 1<<20},
		{list, 8 + 1<<20},
		{head + "\x00\x53\x75\xa0\x02ab" + data, 7 + 7 + 8 + 1<<20},     // the first data section has ended
		{"\x00\x53\x74\xd1\x00\x20\x00\x00\x00\x00\x00\x02", 8 + 1<<21}, // application properties
		{"\x00\x53\x75\xb0\xff\xff\xff\xff", 8 + 1<<32 - 1},
		{"\x00\x53\x75\xa0\xff", 0}, // it ends within the frame anyway, or is no large message
		{data[:7], 0},
		{name, 0},
		{head, 0},
		{"", 0},
		{"\x00", 0},
		{"\x00\x53\x75", 0},
		{"\x41\x41", 0},
		{"\x00\x53\x75\x00\x53\x75\xb0\x00\x10\x00\x00", 0},
	} {
		if got := message.Announced([]byte(c.first)); got != c.want {
			t.Errorf("%x: %d, want %d", c.first, got, c.want)
		}
	}
}
