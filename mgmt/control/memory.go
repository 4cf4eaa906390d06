package control

import (
	"context"
	"net/http"
	"time"
)

const (
	// memoryBudget is how many bytes the requests together have in memory that read or send large messages.
	memoryBudget = 320 << 20
	// memoryPatience is how long a request waits for its share.
	memoryPatience = 20 * time.Second
	// small is the size below which a request does not count.
	small = 1 << 20
	// browseShare is what a page of messages counts for: at most four are made at once.
	browseShare = memoryBudget / 4
	// smallReads is how many waits read small messages at once.
	smallReads = 64
)

// take waits until so many bytes are free, and returns what gives them back.
func (h *handler) take(ctx context.Context, bytes int64) (done func(), err error) {
	if bytes < small {
		return func() {}, nil
	}
	bytes = min(bytes, memoryBudget)
	ctx, cancel := context.WithTimeout(ctx, memoryPatience)
	defer cancel()
	if err := h.memory.Acquire(ctx, bytes); err != nil {
		return nil, newError(http.StatusServiceUnavailable, nil, "Too many large messages are being read or sent "+
			"through the control API at once. Try again later.")
	}
	return func() { h.memory.Release(bytes) }, nil
}

// takeToRead waits until an operation that waits for a message may read so many bytes, or until ctx ends. Small reads
// have a budget of their own, so that they do not queue behind large requests.
func (h *handler) takeToRead(ctx context.Context, bytes int64) (done func(), err error) {
	of, n := h.memory, min(bytes, memoryBudget)
	if bytes < small {
		of, n = h.smallReads, 1
	}
	if err := of.Acquire(ctx, n); err != nil {
		return nil, err
	}
	return func() { of.Release(n) }, nil
}
