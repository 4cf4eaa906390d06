package sbtest

import (
	"io"
	"log/slog"
	"time"

	"minibus/config"
)

// Option changes what [Start] starts. A [Queue] and a [Topic] are options; functions make the others.
type Option interface{ apply(o *options) }

type optionFunc func(o *options)

func (f optionFunc) apply(o *options) { f(o) }

// Entities is an [Option] that declares entities: a [Queue], a [Topic] or [ConfigJSON].
type Entities interface {
	Option
	part() config.Part
}

// ConfigJSON adds the entities of a configuration in the format of Microsoft's emulator, with the defaults of that
// emulator. It can say more than a [Queue] or [Topic], such as the keys of an entity. An unknown key fails the test.
func ConfigJSON(text string) Entities { return configJSON(text) }

type configJSON string

func (c configJSON) apply(o *options) { o.parts = append(o.parts, c.part()) }

func (c configJSON) part() config.Part {
	return config.Part{From: "sbtest.ConfigJSON", JSON: []byte(c)}
}

// Limits is a profile of what may be asked for: names, values of settings, sizes and numbers of entities, messages
// and connections.
type Limits string

// The profiles.
const (
	Relaxed           = Limits(config.ProfileRelaxed)  // all that one of the others takes, in any number
	Standard          = Limits(config.ProfileStandard) // the Standard tier of Azure
	Premium           = Limits(config.ProfilePremium)  // the Premium tier of Azure
	MicrosoftEmulator = Limits(config.ProfileEmulator) // Microsoft's emulator
)

// WithLimits enforces a profile, both for clients and for what the test declares. The default is [Relaxed].
func WithLimits(l Limits) Option {
	return optionFunc(func(o *options) { o.config.Settings.Limits = config.Profile(l) })
}

// WithTokens checks tokens as Azure does: a client may do what the policy allows whose key it has. The policies are
// those of [ConfigJSON]. Without any there is one, that of [Namespace.ConnectionString], which allows everything. By
// default the server accepts all tokens, and clients without a token too.
func WithTokens() Option {
	return optionFunc(func(o *options) { o.config.Settings.Auth = config.AuthSAS })
}

// WithoutNetwork binds no port: clients connect through [InMemory] or [Namespace.Dial]. In a testing/synctest bubble,
// where sockets do not work, a server starts so by itself.
func WithoutNetwork() Option {
	return optionFunc(func(o *options) { o.config.NoNetwork = true })
}

// WithClock sets the time of the broker: now returns the time of day, and may jump. Locks, schedules, expiry and
// duplicate detection follow it, and see a jump forward within a second. They never go back: if now does, their time
// goes on at half speed until now has caught up. Timeouts on the network follow real time. [Server.Advance] and
// [Namespace.Advance] add to it.
func WithClock(now func() time.Time) Option {
	return optionFunc(func(o *options) {
		o.clock.Wall = now
		o.clock.Recheck = 0
	})
}

// WithLinkIdleTimeout detaches links without traffic after this time, so that a test can see its program recover. The
// default is that of Azure, 10 minutes; a negative time is none. It is real time, which [Server.Advance] does not
// change.
func WithLinkIdleTimeout(d time.Duration) Option {
	return optionFunc(func(o *options) { o.config.AMQP.LinkIdle = d })
}

// WithConnectionIdleTimeout closes connections without links after this time. The default is that of Azure, 5
// minutes; a negative time is none. It is real time, which [Server.Advance] does not change.
func WithConnectionIdleTimeout(d time.Duration) Option {
	return optionFunc(func(o *options) { o.config.AMQP.ConnectionIdle = d })
}

// WithLazyExpiry leaves expired messages where they are, counted and visible to a peek, until a receiver comes upon
// them. Azure may do so. By default a message is removed the moment it expires.
func WithLazyExpiry() Option {
	return optionFunc(func(o *options) { o.config.Broker.LazyExpiry = true })
}

// WithGoneEntities answers 410 instead of 404 to HTTP requests that send to or receive from an entity that does not
// exist. The documentation of Azure says 410.
func WithGoneEntities() Option {
	return optionFunc(func(o *options) { o.config.MissingIsGone = true })
}

// WithLogger sends the log of the server to a logger: one line for each operation that is refused or fails. By default
// there is no log.
func WithLogger(l *slog.Logger) Option {
	return optionFunc(func(o *options) { o.config.Logger = l })
}

// WithTrace writes a line for each AMQP frame, without message bodies and tokens.
func WithTrace(w io.Writer) Option {
	return optionFunc(func(o *options) { o.config.Trace = w })
}
