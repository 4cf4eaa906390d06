package amqpserver

import (
	"cmp"
	"io"
	"log/slog"
	"time"

	"minibus/emulator"
	"minibus/internal/loglimit"
	"minibus/internal/sas"
)

// Options configure a [Server]. The zero value of a field means its default.
type Options struct {
	// Logger gets one line per refused or failed operation, with entity, condition and reason. Default: discard.
	Logger *slog.Logger

	// Refusals rate-limits those lines by kind, and the lines about links. Nil limits nothing. The caller owns it.
	Refusals *loglimit.Limiter

	// Trace, if set, gets one line per frame. Tokens and message bodies are never in it. Writes are serialised.
	Trace io.Writer

	// Access returns the keys of a namespace that verify tokens: each link and each request then needs a token that
	// gives it the right (ERR-1 to ERR-3). A connection keeps the ring ([sas.RingOf] looks policies up at each check).
	// Nil accepts any token and needs none (DEC-10).
	Access func(*emulator.Namespace) *sas.Ring

	// Unverified is called for each token that was accepted without Access although its issuer could verify it (a
	// JWT). It must not block. May be nil.
	Unverified func()

	// FirstToken is how long a connection may take to show a valid token, where tokens are checked (ERR-3). Zero means
	// the service's 20 seconds.
	FirstToken time.Duration

	// MaxUnauthenticated is how many connections without a valid token may be open, where tokens are checked. One more
	// closes the oldest of them. Default 1,000; negative means any number.
	MaxUnauthenticated int

	// LinkIdle is the time without traffic after which a link is detached, ConnectionIdle how long a connection lives
	// without links, FirstLink how long it may take to attach its first (LOCK-19, DEC-15). Zero means the service's
	// value (10, 5 and 1 minutes); negative means never. They follow the real clock (DEC-35).
	LinkIdle, ConnectionIdle, FirstLink time.Duration

	// IdleTimeout is the idle-time-out that we announce [AMQP 2.4.5]; a peer that is silent for twice as long loses
	// its connection. Default 4 minutes, as in the service.
	IdleTimeout time.Duration

	// HandshakeTimeout is how long a peer may take to send its open. Default 30 seconds.
	HandshakeTimeout time.Duration

	// MaxFrameSize is the largest frame we take and send, in bytes. Default 65,536.
	MaxFrameSize uint32

	// ChannelMax and HandleMax are the highest channel and handle numbers that a peer may use. Defaults 4,999 and
	// 1,023.
	ChannelMax uint16
	HandleMax  uint32

	// LargeBytes is how much memory deliveries over 1 MiB take in each direction. If they need more, clients wait.
	// Default 224 MiB.
	LargeBytes int

	// MaxLinks is how many links one connection may have. Default 8,192.
	MaxLinks int
}

// Limits that are not options: they bound memory, and real clients stay far below them.
const (
	maxFrameBeforeOpen = 8 << 10   // bytes of a frame before open
	maxUncommitted     = 4 << 20   // bytes sent to the domain and not yet committed, per connection
	maxUncommittedAll  = 128 << 20 // the same for all connections; one that has nothing under way may still send
	maxWeight          = 512       // operations that the journal makes of what a connection has sent to topics
	maxAssembly        = 16 << 20  // bytes of unfinished deliveries per connection, beyond the largest single one
	maxPendingOut      = 1 << 20   // bytes written but not sent above which no delivery is started
	maxPendingReplies  = 4 << 20   // bytes written but not sent above which no frame is read
	maxHeldReplies     = 16 << 20  // bytes of management replies that wait for credit, per connection
	maxRequests        = 8192      // requests without a written reply, per connection
	maxUnsettled       = 1 << 18   // deliveries that a session's peer may leave unsettled before it gets more
	maxNames           = 8 << 10   // bytes of a link's name and addresses together
	maxTokens          = 4096      // tokens that a connection holds at once, of at most 8 KiB each

	writeTimeout = time.Minute      // for a chunk of writeChunk bytes
	writeChunk   = 256 << 10        // bytes per call, so that a slow reader keeps within the deadline
	closeLinger  = time.Second      // how long we wait for the peer's close after ours
	maxHeartbeat = 15 * time.Second // some clients give up after 60 s, whatever they announce
	minHeartbeat = 50 * time.Millisecond
)

func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.LinkIdle = cmp.Or(o.LinkIdle, 10*time.Minute)
	o.ConnectionIdle = cmp.Or(o.ConnectionIdle, 5*time.Minute)
	o.FirstLink = cmp.Or(o.FirstLink, time.Minute)
	o.FirstToken = cmp.Or(o.FirstToken, 20*time.Second)
	o.MaxUnauthenticated = cmp.Or(o.MaxUnauthenticated, 1000)
	o.IdleTimeout = cmp.Or(o.IdleTimeout, 4*time.Minute)
	o.HandshakeTimeout = cmp.Or(o.HandshakeTimeout, 30*time.Second)
	o.MaxFrameSize = cmp.Or(o.MaxFrameSize, 65_536)
	o.ChannelMax = cmp.Or(o.ChannelMax, 4_999)
	o.HandleMax = cmp.Or(o.HandleMax, 1_023)
	o.MaxLinks = cmp.Or(o.MaxLinks, 8_192)
	o.LargeBytes = cmp.Or(o.LargeBytes, 224<<20)
	return o
}
