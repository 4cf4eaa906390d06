package control

import (
	"context"
	"net/http"
	"time"

	"golang.org/x/sync/semaphore"
)

const (
	// room is how many bytes the requests together have in memory that read or send large messages.
	room = 320 << 20
	// roomPatience is how long a request waits for its part.
	roomPatience = 20 * time.Second
	// small requests do not count.
	small = 1 << 20
	// browseShare is what a page of messages counts for: at most four are made at once.
	browseShare = room / 4
	// smallReads is how many waits read small messages at once.
	smallReads = 64
)

// newRoom counts the bytes.
func newRoom() *semaphore.Weighted { return semaphore.NewWeighted(room) }

// take waits until so many bytes are free, and returns what gives them back.
func (h *handler) take(ctx context.Context, bytes int64) (done func(), err error) {
	if bytes < small {
		return func() {}, nil
	}
	bytes = min(bytes, room)
	ctx, cancel := context.WithTimeout(ctx, roomPatience)
	defer cancel()
	if err := h.room.Acquire(ctx, bytes); err != nil {
		return nil, newError(http.StatusServiceUnavailable, nil, "Too many large messages are being read or sent "+
			"through the control API at once. Try again later.")
	}
	return func() { h.room.Release(bytes) }, nil
}

// takeToRead waits until a wait may read so many bytes. It gives up only when ctx ends. Small reads have places of
// their own, so that a wait for small messages does not stand behind large requests.
func (h *handler) takeToRead(ctx context.Context, bytes int64) (done func(), err error) {
	of, n := h.room, min(bytes, room)
	if bytes < small {
		of, n = h.smallReads, 1
	}
	if err := of.Acquire(ctx, n); err != nil {
		return nil, err
	}
	return func() { of.Release(n) }, nil
}
