package emulator

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Profile names one of the sets of limits that the broker can enforce (DEC-1).
type Profile uint8

// The profiles.
const (
	ProfileRelaxed  Profile = iota // Standard's defaults without its ceilings
	ProfileStandard                // those of Azure's Standard tier
	ProfilePremium                 // those of Azure's Premium tier
	ProfileEmulator                // those of Microsoft's emulator
)

// profileNames are the profiles as settings name them.
var profileNames = [...]string{ProfileRelaxed: "relaxed", ProfileStandard: "standard", ProfilePremium: "premium",
	ProfileEmulator: "emulator"}

// MarshalText returns the name of the profile.
func (p Profile) MarshalText() ([]byte, error) {
	if int(p) >= len(profileNames) {
		return nil, fmt.Errorf("write a profile of limits: there is none with the number %d", p)
	}
	return []byte(profileNames[p]), nil
}

// UnmarshalText reads the name of a profile.
func (p *Profile) UnmarshalText(text []byte) error {
	i := slices.Index(profileNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("read a profile of limits: there is none with the name %q", text)
	}
	*p = Profile(i)
	return nil
}

// Lengths and numbers that all profiles have (QUO-9, QUO-10).
const (
	MaxPath               = 260 // characters in the path of a queue or topic
	MaxName               = 50  // characters in the name of a subscription, a rule or a namespace
	MaxAuthorizationRules = 12  // of a namespace or an entity
	MaxKeyName            = 256 // bytes in the name of an authorization rule
	MaxAliases            = 100 // of a namespace
)

// Forever is the longest duration; settings use it for "no end".
const Forever = time.Duration(math.MaxInt64)

// DurationRange is the range of a duration, ends included.
type DurationRange struct {
	Least, Most time.Duration
	OrForever   bool // Forever is allowed although it is above Most
}

// Contains reports whether the range has a duration.
func (r DurationRange) Contains(d time.Duration) bool {
	return d >= r.Least && d <= r.Most || r.OrForever && d == Forever
}

// IntRange is the range of a number, ends included. With Step above 1 only its multiples are allowed.
type IntRange struct{ Least, Most, Step int64 }

// Contains reports whether the range has a number.
func (r IntRange) Contains(v int64) bool {
	return v >= r.Least && v <= r.Most && (r.Step <= 1 || v%r.Step == 0)
}

// Limits has the values of a profile (DEC-1). Of a quota, 0 means any number.
type Limits struct {
	// What the settings of an entity may be.
	Lock, TimeToLive, Window, AutoDelete DurationRange
	Deliveries                           IntRange
	Megabytes                            IntRange // size of an entity (QUO-1)
	Kilobytes                            IntRange // size of a message (QUO-5)
	DefaultKilobytes                     int64    // size of a message where an entity does not say (DEC-2)
	Metadata                             int      // characters of the user's metadata
	Partitioning, Express                bool
	LooseNames                           bool // names may have ~ anywhere and _ at their ends (DEC-9)
	EndingHyphens                        bool // names may end with hyphens (DEC-9)

	// How many there may be.
	Entities      int // queues and topics (QUO-11)
	Partitioned   int // partitioned queues and topics (PART-9)
	Subscriptions int // of a topic (QUO-10)
	SQLFilters    int // of a topic (QUO-10)
	Correlations  int // of a topic (QUO-10)
	Rules         int // of a subscription
	Connections   int // AMQP connections of a namespace (QUO-12)
	Receivers     int // receive requests of an entity (QUO-12)

	// How much an entity holds.
	FixedMegabytes int64 // the quota of every entity, whatever its setting; 0: the setting counts
	Partitions     int64 // a partitioned entity holds, and shows, so many times its size (QUO-1, PART-1)

	// What a message, a batch and a rule may have.
	ID         int // characters of MessageId, SessionId and PartitionKey (QUO-9)
	Property   int // bytes of one property (QUO-8)
	Batch      int // messages (QUO-7, DEC-17)
	Expression int // characters of a filter or an action (QUO-10)
	Statements int // of an action (QUO-10)
}

// Limits returns the limits of the profile.
func (p Profile) Limits() Limits { return profiles[p] }

// profiles are the numbers of all profiles. Where the service's tiers agree, they have them from standard.
var profiles = [...]Limits{
	ProfileRelaxed: { // the union of what Azure and Microsoft's emulator take, without quotas (DEC-5)
		Lock:             standard.Lock,
		TimeToLive:       DurationRange{Least: Resolution, Most: Forever},
		Window:           DurationRange{Least: 5 * time.Second, Most: 7 * 24 * time.Hour},
		AutoDelete:       standard.AutoDelete,
		Deliveries:       standard.Deliveries,
		Megabytes:        IntRange{1, 1 << 31, 1},
		Kilobytes:        IntRange{1, 102_400, 1},
		DefaultKilobytes: standard.DefaultKilobytes,
		Partitioning:     true,
		Express:          true,
		LooseNames:       true,
		EndingHyphens:    true,
		Partitions:       standard.Partitions,
	},
	ProfileStandard: standard,
	ProfilePremium:  premium(),
	ProfileEmulator: microsoft(),
}

var standard = Limits{
	Lock:             DurationRange{Least: Resolution, Most: 5 * time.Minute},
	TimeToLive:       DurationRange{Least: time.Second, Most: Forever},
	Window:           DurationRange{Least: 20 * time.Second, Most: 7 * 24 * time.Hour},
	AutoDelete:       DurationRange{Least: minAutoDelete, Most: Forever},
	Deliveries:       IntRange{1, 1<<31 - 1, 1},
	Megabytes:        IntRange{1024, 5120, 1024},
	Kilobytes:        IntRange{256, 256, 1},
	DefaultKilobytes: defaultMaxMessageBytes / 1024,
	Metadata:         1024,
	Partitioning:     true,
	Express:          true,
	EndingHyphens:    true,

	Entities: 10_000, Partitioned: 100,
	Subscriptions: 2_000, SQLFilters: 2_000, Correlations: 100_000,
	Connections: 5_000, Receivers: 5_000,

	Partitions: partitions,

	ID: 128, Property: 32 << 10, Batch: 4_500, Expression: 1024, Statements: 32,
}

// premium returns the numbers of Azure's Premium tier, with one messaging unit. Its partitions are the namespace's.
func premium() Limits {
	p := standard
	p.Megabytes = IntRange{1024, 81_920, 1024}
	p.Kilobytes = IntRange{1024, 102_400, 1}
	p.DefaultKilobytes = 1024
	p.Partitioning = false
	p.Partitioned = 0
	p.Partitions = 1
	p.Express = false
	p.Entities = 1_000
	return p
}

// microsoft returns the numbers of Microsoft's emulator, which has no partitioned entities.
func microsoft() Limits {
	p := standard
	p.Lock.Least = 5 * time.Second
	p.TimeToLive = DurationRange{Least: 5 * time.Minute, Most: time.Hour, OrForever: true}
	p.Window = DurationRange{Least: 5 * time.Second, Most: 5 * time.Minute}
	p.AutoDelete = DurationRange{Least: minAutoDelete, Most: time.Hour, OrForever: true}
	p.Deliveries.Most = 10
	p.Megabytes = IntRange{100, 5120, 1} // NServiceBus sets 5120 (DEC-9)
	p.FixedMegabytes = 100
	p.Partitioning = false
	p.Partitioned = 0
	p.Partitions = 1
	p.EndingHyphens = false
	p.Entities = 50
	p.Subscriptions = 50
	p.Rules = 1_000
	p.SQLFilters = 70
	p.Correlations = 1_000
	p.Connections, p.Receivers = 10, 200
	return p
}
