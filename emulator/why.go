package emulator

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Finding is one thing that stands in the way of receiving, or explains where messages are.
type Finding struct {
	Code   FindingCode
	Blocks bool   // nothing is received while it is so
	Text   string // a sentence or more
	Cure   string // what to do; may be empty
}

// FindingCode tells findings apart.
type FindingCode string

// The findings.
const (
	FindTopic           FindingCode = "topic"               // topics have no receivers
	FindNoSubscriptions FindingCode = "no-subscriptions"    // the topic drops everything
	FindDisabled        FindingCode = "disabled"            // for receiving
	FindSendDisabled    FindingCode = "send-disabled"       // nothing new comes
	FindForwards        FindingCode = "forwards"            // nothing stays here
	FindForwardWaits    FindingCode = "forward-waits"       // messages wait for the target of a forward
	FindParked          FindingCode = "parked"              // dead letters that the target of a forward can never take
	FindNoRules         FindingCode = "no-rules"            // of the subscription
	FindRulesMatchNone  FindingCode = "rules-match-nothing" // of all that was sent to the topic
	FindRulesLeaveOut   FindingCode = "rules-leave-out"     // some of it
	FindEmpty           FindingCode = "empty"
	FindLocked          FindingCode = "locked"
	FindSessionsHeld    FindingCode = "sessions-held"
	FindSessionRequired FindingCode = "session-required" // and no receiver has one
	FindOtherSession    FindingCode = "other-session"    // the receiver's has no messages, others have
	FindScheduled       FindingCode = "scheduled"
	FindDeferred        FindingCode = "deferred"
	FindBeingWritten    FindingCode = "being-written"
	FindNoReceiver      FindingCode = "no-receiver"
	FindNoCredit        FindingCode = "no-credit"
	FindWrongSubQueue   FindingCode = "wrong-sub-queue"
	FindDeadLettered    FindingCode = "dead-lettered"
	FindExpired         FindingCode = "expired"
	FindRefused         FindingCode = "refused"   // attaches and tokens, a short while ago
	FindReceiving       FindingCode = "receiving" // nothing stands in the way
)

// Question says whose receiving to look at.
type Question struct {
	Sub    SubQueue
	Client string // as of [Client.Is]; empty: any
	// Hindrance returns what keeps an attached receiver from taking messages, in words that follow its name; empty if nothing does. It is
	// called without a mutex. Nil knows nothing.
	Hindrance func(*Client) string
	Refusals  []Refusal // the latest first
}

// Refusal is a link or token that a front end refused.
type Refusal struct {
	At        time.Time
	Client    *Client
	Operation string // attach, put-token
	Entity    string // path; empty: the whole namespace
	Sub       SubQueue
	Condition string
	Text      string
}

// Diagnosis is the answer to a [Question].
type Diagnosis struct {
	Path      string // of the entity, with its sub-queue
	Available int64  // messages that a receiver could have now
	Receivers int    // attached there, of those that were asked about
	Findings  []Finding
}

// Blocked reports whether nothing can be received.
func (d *Diagnosis) Blocked() bool {
	return slices.ContainsFunc(d.Findings, func(f Finding) bool { return f.Blocks })
}

// Has reports whether there is a finding with that code.
func (d *Diagnosis) Has(code FindingCode) bool {
	return slices.ContainsFunc(d.Findings, func(f Finding) bool { return f.Code == code })
}

// String returns the findings, a line each, with the cures below them.
func (d *Diagnosis) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s available, %s attached", d.Path, count(d.Available, "message"), count(int64(d.Receivers), "receiver"))
	for _, f := range d.Findings {
		fmt.Fprintf(&b, "\n  %s: %s", f.Code, f.Text)
		if f.Cure != "" {
			fmt.Fprintf(&b, "\n    -> %s", f.Cure)
		}
	}
	return b.String()
}

// Why says what stands in the way of receiving from the entity. It changes nothing, and does not count as a use of the entity. It looks at up to
// a few thousand messages, of which it holds the entity's mutex for 64 at a time.
func (q *Entity) Why(ask Question) Diagnosis {
	w := &why{q: q, ask: ask, path: ask.Sub.Join(q.path)}
	w.gather()
	w.d = Diagnosis{Path: w.path, Available: w.available, Receivers: len(w.here)}
	w.entity()
	w.receivers()
	w.messages()
	w.elsewhere()
	w.refusals()
	if len(w.d.Findings) == 0 || !w.d.Blocked() && w.available > 0 && w.asking {
		w.find(FindReceiving, false, "", "Nothing stands in the way: %s available, and %s.", isAre(w.available, "message"), w.whoAsks())
	}
	slices.SortStableFunc(w.d.Findings, func(a, b Finding) int {
		switch {
		case a.Blocks == b.Blocks:
			return 0
		case a.Blocks:
			return -1
		}
		return 1
	})
	return w.d
}

// why is a diagnosis that is being made: the facts, and the findings so far.
type why struct {
	q    *Entity
	ask  Question
	path string
	d    Diagnosis
	facts
}

func (w *why) find(code FindingCode, blocks bool, cure, format string, args ...any) {
	w.d.Findings = append(w.d.Findings, Finding{Code: code, Blocks: blocks, Text: fmt.Sprintf(format, args...), Cure: cure})
}

func (w *why) whoAsks() string {
	switch {
	case !w.asking:
		return "no receiver asks for any"
	case len(w.here) == 1:
		return "a receiver asks for them"
	}
	return fmt.Sprintf("at least one of %d receivers asks for them", len(w.here))
}

// count returns a number with its noun.
func count(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func isAre(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun + " is"
	}
	return fmt.Sprintf("%d %ss are", n, noun)
}

// when returns an instant with the time until it comes.
func (w *why) when(ms int64) string {
	text := instant(ms).UTC().Format("2006-01-02T15:04:05.000Z")
	if left := time.Duration(ms-w.now) * time.Millisecond; left > 0 {
		return fmt.Sprintf("%s (in %s)", text, left)
	}
	return text
}

// listed joins up to five texts.
func listed(texts []string) string {
	const most = 5
	if more := len(texts) - most; more > 0 {
		return strings.Join(texts[:most], "; ") + fmt.Sprintf("; and %d more", more)
	}
	return strings.Join(texts, "; ")
}
