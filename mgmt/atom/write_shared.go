package atom

import (
	"cmp"
	"time"

	"minibus/emulator"
)

// View selects the form of a description.
type View struct {
	Version Version
	Profile emulator.Profile
	// Full is the form of get and list, with AccessedAt and CountDetails. Answers to create and update are shorter.
	Full bool
	// Enriched says that the client asked with enrich, whatever its value.
	Enriched bool
}

// Queue is a queue in an answer.
type Queue struct {
	Path    string // in lower case
	Options emulator.QueueOptions
	Counts  emulator.Counts
	Times   emulator.Times
}

// total returns MessageCount: the sum of the five counts (CNT-1).
func total(c emulator.Counts) int64 {
	return c.Active + c.DeadLetter + c.Scheduled + c.Transfer + c.TransferDeadLetter
}

// namespaces are the declarations on every description.
var namespaces = []string{"xmlns", nsServiceBus, "xmlns:i", nsInstance}

// write appends the description, with its elements in the order of the service's contract.
func (q Queue) write(w *writer, v View) {
	o, l := &q.Options, limits{v.Profile.Limits()}
	w.open("QueueDescription", namespaces...)
	w.lock(o)
	w.int("MaxSizeInMegabytes", l.shownSize(o.MaxSizeInMegabytes, o.EnablePartitioning))
	w.bool("RequiresDuplicateDetection", o.RequiresDuplicateDetection)
	w.bool("RequiresSession", o.RequiresSession)
	w.span("DefaultMessageTimeToLive", shownSpan(o.DefaultMessageTimeToLive, o.Admin.TimeToLiveTicks))
	w.bool("DeadLetteringOnMessageExpiration", o.DeadLetteringOnExpiration)
	w.window(o.DuplicateDetectionWindow)
	w.deliveries(o)
	w.int("SizeInBytes", q.Counts.SizeBytes)
	w.int("MessageCount", total(q.Counts))
	w.bool("IsAnonymousAccessible", false)
	w.authorizationRules(o.Admin.AuthorizationRules, v)
	w.status(o.Status)
	w.forwardTo(o)
	w.time("CreatedAt", q.Times.Created)
	w.time("UpdatedAt", q.Times.Updated)
	if v.Full {
		w.text("AccessedAt", formatAccessed(q.Times.Accessed))
	}
	w.optional("UserMetadata", o.UserMetadata)
	w.bool("SupportOrdering", true)
	if v.Full {
		w.counts(q.Counts)
	}
	w.span("AutoDeleteOnIdle", shownSpan(o.AutoDeleteOnIdle, o.Admin.AutoDeleteTicks))
	w.bool("EnablePartitioning", o.EnablePartitioning)
	w.text("EntityAvailabilityStatus", "Available")
	w.forwardDeadLettered(o)
	w.bool("EnableExpress", o.Admin.EnableExpress)
	w.messageSize(o.MaxMessageSizeInKilobytes, v)
	w.close("QueueDescription")
}

func (w *writer) lock(o *emulator.QueueOptions) {
	d := o.LockDuration
	if d <= 0 {
		d = emulator.DefaultLockDuration
	}
	w.span("LockDuration", SpanOf(d))
}

func (w *writer) window(d time.Duration) {
	if d <= 0 {
		d = emulator.DefaultDedupWindow
	}
	w.span("DuplicateDetectionHistoryTimeWindow", SpanOf(d))
}

// deliveries writes MaxDeliveryCount and EnableBatchedOperations.
func (w *writer) deliveries(o *emulator.QueueOptions) {
	n := int64(o.MaxDeliveryCount)
	if n <= 0 {
		n = emulator.DefaultMaxDelivery
	}
	w.int("MaxDeliveryCount", n)
	w.bool("EnableBatchedOperations", batched(o.EnableBatchedOperations))
}

// batched returns EnableBatchedOperations; the default is true.
func batched(b *bool) bool { return b == nil || *b }

func (w *writer) status(s emulator.Status) {
	w.text("Status", cmp.Or(string(s), string(emulator.StatusActive)))
}

func (w *writer) forwardTo(o *emulator.QueueOptions) {
	w.optional("ForwardTo", cmp.Or(shownForward(o.ForwardTo, o.Admin.ForwardToText), o.Admin.InertForwardTo))
}

func (w *writer) forwardDeadLettered(o *emulator.QueueOptions) {
	w.optional("ForwardDeadLetteredMessagesTo", shownForward(o.ForwardDeadLetteredMessagesTo,
		o.Admin.ForwardDeadLetteredText))
}

func (w *writer) messageSize(kb int64, v View) {
	if !v.Version.has(version2021) {
		return
	}
	if kb <= 0 {
		kb = v.Profile.Limits().DefaultKilobytes
	}
	w.int("MaxMessageSizeInKilobytes", kb)
}

// counts writes CountDetails. JavaScript's client finds the children by the prefix in the one attribute, and
// Java's needs them in this namespace.
func (w *writer) counts(c emulator.Counts) {
	w.open("CountDetails", "xmlns:d2p1", nsCounts)
	w.int("d2p1:ActiveMessageCount", c.Active)
	w.int("d2p1:DeadLetterMessageCount", c.DeadLetter)
	w.int("d2p1:ScheduledMessageCount", c.Scheduled)
	w.int("d2p1:TransferMessageCount", c.Transfer)
	w.int("d2p1:TransferDeadLetterMessageCount", c.TransferDeadLetter)
	w.close("CountDetails")
}
