package amqpserver

import (
	"bytes"
	"slices"
	"sync"
	"testing"

	"minibus/internal/amqp"
)

// The pieces of a large delivery move, as they come, to a buffer that grows to the length that its body announces.
func TestPartialDelivery_Gather(t *testing.T) {
	data := amqp.AppendBinary(amqp.AppendDescriptor(nil, 0x75), bytes.Repeat([]byte("0123456789"), 20_000))
	footer := []byte{0x00, 0x53, 0x78, 0xc1, 0x01, 0x00}
	for name, c := range map[string]struct {
		message      []byte
		most         int
		room, pieces int // of the buffer before the end; pieces not in it
	}{
		"as announced":          {data, len(data), len(data), 0},
		"more than announced":   {slices.Concat(data, footer), 1 << 20, len(data), 1},
		"two sections":          {slices.Concat(data, data), 1 << 20, len(data), 4},
		"less than announced":   {data[:len(data)-70_000], len(data), len(data), 0},
		"too much is announced": {data, len(data) - 1, 0, 4},
		"nothing is announced":  {data[8:], 1 << 20, 0, 4},
	} {
		t.Run(name, func(t *testing.T) {
			pool := sync.Pool{New: func() any { b := make([]byte, 64<<10); return &b }}
			var p partialDelivery
			for piece := range slices.Chunk(c.message, 60_000) {
				p.pieces = append(p.pieces, append((*pool.Get().(*[]byte))[:0], piece...))
				if p.size += len(piece); p.size > 100_000 {
					p.readAnnounced(c.most)
					p.fillBuffer(&pool)
				}
			}
			if got := cap(p.buffer); got < c.room || got > c.room+c.room/8 { // make rounds up
				t.Errorf("the buffer has room for %d bytes, want %d", got, c.room)
			}
			if len(p.pieces) != c.pieces {
				t.Errorf("%d pieces are left, want %d", len(p.pieces), c.pieces)
			}
			if p.join(&pool); !bytes.Equal(p.raw, c.message) {
				t.Error("the joined delivery is not what was sent")
			}
		})
	}
}

// The buffer grows as the delivery does: who announces much and sends little gets little.
func TestPartialDelivery_BufferGrowsInSteps(t *testing.T) {
	pool := sync.Pool{New: func() any { b := make([]byte, 64<<10); return &b }}
	message := amqp.AppendBinary(amqp.AppendDescriptor(nil, 0x75), make([]byte, 4<<20))
	var p partialDelivery
	var buffers []*byte // the beginning of each
	for piece := range slices.Chunk(message, 60_000) {
		p.pieces, p.size = append(p.pieces, piece), p.size+len(piece)
		p.readAnnounced(len(message))
		if p.fillBuffer(&pool); cap(p.buffer) > 4*p.size+1<<16 {
			t.Fatalf("of %d bytes, %d have come, and the buffer is for %d", len(message), p.size, cap(p.buffer))
		}
		if len(p.buffer) > 0 && (len(buffers) == 0 || &p.buffer[0] != buffers[len(buffers)-1]) {
			buffers = append(buffers, &p.buffer[0])
		}
	}
	if len(buffers) != 2 {
		t.Errorf("there were %d buffers one after the other, want one for a half and one for all", len(buffers))
	}
	if cap(p.buffer) < len(message) || len(p.pieces) > 0 {
		t.Errorf("the buffer is for %d bytes, and %d pieces are left", cap(p.buffer), len(p.pieces))
	}
}
