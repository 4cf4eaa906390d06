package atom

import "minibus/emulator"

// TopicDescription is a client's description of a topic; see [SharedDescription] for absent elements.
type TopicDescription struct {
	options             emulator.TopicOptions
	limits              limits
	dedup, partitioning *bool
	subscriptions       *bool // EnableSubscriptionPartitioning
	rules               bool
}

// ParseTopic reads a TopicDescription.
func ParseTopic(d *Element, l emulator.Profile) (*TopicDescription, error) {
	f := newFields(d, "Topic", l)
	t := &TopicDescription{limits: f.limits, dedup: f.boolIfGiven("RequiresDuplicateDetection"),
		partitioning:  f.partitioning(),
		subscriptions: f.boolIfGiven("EnableSubscriptionPartitioning")}
	o := &t.options
	o.DefaultMessageTimeToLive, o.Admin.TimeToLiveTicks = neverOr(f.span("DefaultMessageTimeToLive", MaxTimeSpan,
		f.limits.TimeToLive))
	o.AutoDeleteOnIdle, o.Admin.AutoDeleteTicks = neverOr(f.span("AutoDeleteOnIdle", MaxTimeSpan, f.limits.AutoDelete))
	o.DuplicateDetectionWindow = durationOf(f.span("DuplicateDetectionHistoryTimeWindow", 10*Minute, f.limits.Window))
	o.MaxSizeInMegabytes = f.size()
	o.MaxMessageSizeInKilobytes = f.messageSize()
	o.Status = f.status()
	o.UserMetadata = f.metadata()
	batched := f.boolean("EnableBatchedOperations", true)
	o.EnableBatchedOperations = &batched
	o.Admin.SupportOrdering = f.boolIfGiven("SupportOrdering")
	o.Admin.FilteringMessagesBeforePublishing = f.boolean("FilteringMessagesBeforePublishing", false)
	o.Admin.EnableExpress = f.express(t.dedup)
	o.Admin.AuthorizationRules, t.rules = f.authorizationRules()
	f.closed()
	return t, f.err
}

// Create returns the settings of a new topic. It fails if clients may not set its size.
func (t *TopicDescription) Create() (emulator.TopicOptions, error) {
	o := t.options
	o.RequiresDuplicateDetection = value(t.dedup)
	o.EnablePartitioning = value(t.partitioning)
	o.Admin.EnableSubscriptionPartitioning = value(t.subscriptions)
	o.Admin.AuthorizationRules = withKeys(o.Admin.AuthorizationRules, nil)
	return t.settle(o)
}

// Update returns the new settings of a topic with the old ones. It fails if it would change a setting that is fixed
// at creation.
func (t *TopicDescription) Update(old emulator.TopicOptions) (emulator.TopicOptions, error) {
	switch {
	case differs(t.dedup, old.RequiresDuplicateDetection):
		return old, fixed("RequiresDuplicateDetection", "Topic")
	case differs(t.partitioning, old.EnablePartitioning):
		return old, fixedPartitioning("Topic")
	case differs(t.subscriptions, old.Admin.EnableSubscriptionPartitioning):
		return old, fixed("EnableSubscriptionPartitioning", "Topic")
	}
	o := t.options
	o.RequiresDuplicateDetection, o.EnablePartitioning = old.RequiresDuplicateDetection, old.EnablePartitioning
	o.Admin.EnableSubscriptionPartitioning = old.Admin.EnableSubscriptionPartitioning
	if !t.rules {
		o.Admin.AuthorizationRules = old.Admin.AuthorizationRules
	} else {
		o.Admin.AuthorizationRules = withKeys(o.Admin.AuthorizationRules, old.Admin.AuthorizationRules)
	}
	return t.settle(o)
}

// settle checks and converts the size and fills in SupportOrdering; both depend on partitioning.
func (t *TopicDescription) settle(o emulator.TopicOptions) (emulator.TopicOptions, error) {
	err := t.limits.sizeError(o.MaxSizeInMegabytes, o.EnablePartitioning)
	o.MaxSizeInMegabytes = t.limits.storedSize(o.MaxSizeInMegabytes, o.EnablePartitioning)
	o.SupportOrdering = supportsOrdering(&o)
	return o, err
}

// supportsOrdering returns SupportOrdering. Its default is true, for a partitioned topic false.
func supportsOrdering(o *emulator.TopicOptions) bool {
	if o.Admin.SupportOrdering != nil {
		return *o.Admin.SupportOrdering
	}
	return !o.EnablePartitioning
}

// Topic is a topic in an answer.
type Topic struct {
	Path          string // in lower case
	Options       emulator.TopicOptions
	Counts        emulator.Counts
	Times         emulator.Times
	Subscriptions int64
	SQLFilters    int64 // of all subscriptions, true filters included
	Correlations  int64
}

// write appends the description, with its elements in the order of the service's contract.
func (t Topic) write(w *writer, v View) {
	o, l := &t.Options, limits{v.Profile.Limits()}
	w.open("TopicDescription", namespaces...)
	w.span("DefaultMessageTimeToLive", shownSpan(o.DefaultMessageTimeToLive, o.Admin.TimeToLiveTicks))
	w.int("MaxSizeInMegabytes", l.shownSize(o.MaxSizeInMegabytes, o.EnablePartitioning))
	w.bool("RequiresDuplicateDetection", o.RequiresDuplicateDetection)
	w.window(o.DuplicateDetectionWindow)
	w.bool("EnableBatchedOperations", batched(o.EnableBatchedOperations))
	w.int("SizeInBytes", t.Counts.SizeBytes)
	w.bool("FilteringMessagesBeforePublishing", o.Admin.FilteringMessagesBeforePublishing)
	w.bool("IsAnonymousAccessible", false)
	w.authorizationRules(o.Admin.AuthorizationRules, v)
	w.status(o.Status)
	w.time("CreatedAt", t.Times.Created)
	w.time("UpdatedAt", t.Times.Updated)
	if v.Full {
		w.text("AccessedAt", formatAccessed(t.Times.Accessed))
	}
	w.optional("UserMetadata", o.UserMetadata)
	w.bool("SupportOrdering", supportsOrdering(o))
	if v.Full {
		w.counts(t.Counts)
		w.int("SubscriptionCount", t.Subscriptions)
	}
	w.span("AutoDeleteOnIdle", shownSpan(o.AutoDeleteOnIdle, o.Admin.AutoDeleteTicks))
	w.bool("EnablePartitioning", o.EnablePartitioning)
	w.text("EntityAvailabilityStatus", "Available")
	w.bool("EnableSubscriptionPartitioning", o.Admin.EnableSubscriptionPartitioning)
	w.bool("EnableExpress", o.Admin.EnableExpress)
	w.messageSize(o.MaxMessageSizeInKilobytes, v)
	if v.Full && v.Version.has(version2024) {
		w.int("SqlFilterCount", t.SQLFilters)
		w.int("CorrelationFilterCount", t.Correlations)
	}
	w.close("TopicDescription")
}
