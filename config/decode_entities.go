package config

import (
	"strconv"
	"strings"
	"time"

	"minibus/emulator"
)

// Defaults of Microsoft's emulator for entities in a Config.json (DEC-4). Entities made through the API get
// the cloud's, which are the emulator package's own.
const (
	defaultTimeToLive       = time.Hour
	defaultWindow           = 20 * time.Second
	defaultMaxDeliveryCount = 3
	defaultLockDuration     = time.Minute
)

// entity is a queue or topic while it is decoded.
type entity struct {
	config   emulator.EntityConfig
	from     string // the part that it comes from
	node     *node  // its name, for messages
	forwards []forward
	pending  []*emulator.QueueOptions // of the subscriptions, in their order, until the forward targets are known
	declared *emulator.EntityConfig   // by a program, whose settings replace those of config; nil: from a file
}

// forward is a target, to check once all entities are known: it may come later in the file.
type forward struct {
	at     *node
	target *string // gets the canonical name
}

// The properties of each kind of entity, including those that Azure has beyond Microsoft's file (drop-in 2.4).
var (
	queueKeys = []string{
		"DeadLetteringOnMessageExpiration", "DefaultMessageTimeToLive", "DuplicateDetectionHistoryTimeWindow",
		"ForwardDeadLetteredMessagesTo", "ForwardTo", "LockDuration", "MaxDeliveryCount",
		"RequiresDuplicateDetection", "RequiresSession", "AutoDeleteOnIdle", "EnablePartitioning",
		"MaxSizeInMegabytes", "MaxMessageSizeInKilobytes", "EnableBatchedOperations", "Status", "UserMetadata",
		"AuthorizationRules",
	}
	topicKeys = []string{
		"DefaultMessageTimeToLive", "DuplicateDetectionHistoryTimeWindow", "RequiresDuplicateDetection",
		"AutoDeleteOnIdle", "EnablePartitioning", "MaxSizeInMegabytes", "MaxMessageSizeInKilobytes",
		"SupportOrdering", "EnableBatchedOperations", "Status", "UserMetadata", "AuthorizationRules",
	}
	subscriptionKeys = []string{
		"DeadLetteringOnMessageExpiration", "DefaultMessageTimeToLive", "ForwardDeadLetteredMessagesTo",
		"ForwardTo", "LockDuration", "MaxDeliveryCount", "RequiresSession", "AutoDeleteOnIdle",
		"EnableBatchedOperations", "Status", "UserMetadata", "Rules",
		"DeadLetteringOnFilterEvaluationExceptions", "ClientAffineProperties",
	}
	// Settings that have no effect here, and properties in exports of live entities.
	inertKeys = []string{"EnableExpress", "FilteringMessagesBeforePublishing", "IsAnonymousAccessible",
		"EnableSubscriptionPartitioning", "IsClientAffine", "SizeInBytes", "MessageCount", "CountDetails",
		"CreatedAt", "UpdatedAt", "AccessedAt", "EntityAvailabilityStatus", "SubscriptionCount"}
)

func lockRange(l limits) durationRange       { return durationRange{DurationRange: l.Lock} }
func ttlRange(l limits) durationRange        { return durationRange{DurationRange: l.TimeToLive} }
func windowRange(l limits) durationRange     { return durationRange{l.Window, emulator.DefaultDedupWindow} }
func autoDeleteRange(l limits) durationRange { return durationRange{DurationRange: l.AutoDelete} }
func deliveriesRange(l limits) intRange      { return intRange{l.Deliveries} }
func messageRange(l limits) intRange         { return intRange{l.Kilobytes} }
func sizeRange(l limits) intRange            { return intRange{l.Megabytes} }

// partitionedSize is the range of a partitioned entity, whose size is that of all partitions together (QUO-1).
func partitionedSize(l limits) intRange {
	r := l.Megabytes
	r.Most *= l.Partitions
	return intRange{r}
}

// queue decodes one element of Queues.
func (d *decoder) queue(n *node) {
	if !d.object(n) {
		return
	}
	d.keys(n, []string{"Name", "Properties"})
	name, at := d.name(n, nameRule{most: emulator.MaxPath, slash: true, profile: d.profile.Broker()})
	e := &entity{node: at, config: emulator.EntityConfig{Path: name}}
	props := d.properties(n, queueKeys)
	o := d.queueOptions(props, e)
	o.RequiresDuplicateDetection = d.boolean(props.Get("RequiresDuplicateDetection"))
	o.DuplicateDetectionWindow = d.window(props)
	o.EnablePartitioning = d.partitioning(props)
	o.MaxSizeInMegabytes = d.size(props, o.EnablePartitioning)
	o.MaxMessageSizeInKilobytes = d.messageSize(props)
	o.Admin.AuthorizationRules = d.authorizationRules(props.Get("AuthorizationRules"), map[string]*node{})
	e.config.Queue = o
	d.register(e)
}

// queueOptions reads the settings that queues and subscriptions share.
func (d *decoder) queueOptions(props *node, e *entity) *emulator.QueueOptions {
	deliveries := d.integer(props.Get("MaxDeliveryCount"), defaultMaxDeliveryCount, deliveriesRange)
	o := &emulator.QueueOptions{
		LockDuration:              d.duration(props.Get("LockDuration"), defaultLockDuration, lockRange),
		MaxDeliveryCount:          int(deliveries),
		DefaultMessageTimeToLive:  d.timeToLive(props),
		DeadLetteringOnExpiration: d.boolean(props.Get("DeadLetteringOnMessageExpiration")),
		RequiresSession:           d.boolean(props.Get("RequiresSession")),
		AutoDeleteOnIdle:          d.autoDelete(props.Get("AutoDeleteOnIdle")),
		Status:                    d.status(props.Get("Status")),
		UserMetadata:              d.metadata(props.Get("UserMetadata")),
		EnableBatchedOperations:   d.optional(d.ourBoolean(props.Get("EnableBatchedOperations"))),
	}
	d.forward(e, props.Get("ForwardTo"), &o.ForwardTo)
	d.forward(e, props.Get("ForwardDeadLetteredMessagesTo"), &o.ForwardDeadLetteredMessagesTo)
	if n := props.Get("ForwardTo"); o.RequiresSession && n != nil && n.Text != "" {
		d.fail(n, "found ForwardTo together with RequiresSession", "one of the two",
			"let the target require sessions instead of the source")
	}
	return o
}

// topic decodes one element of Topics with its subscriptions.
func (d *decoder) topic(n *node) {
	if !d.object(n) {
		return
	}
	d.keys(n, []string{"Name", "Properties", "Subscriptions"})
	name, at := d.name(n, nameRule{most: emulator.MaxPath, slash: true, profile: d.profile.Broker()})
	props := d.properties(n, topicKeys)
	o := &emulator.TopicOptions{
		DefaultMessageTimeToLive:   d.timeToLive(props),
		RequiresDuplicateDetection: d.boolean(props.Get("RequiresDuplicateDetection")),
		DuplicateDetectionWindow:   d.window(props),
		AutoDeleteOnIdle:           d.autoDelete(props.Get("AutoDeleteOnIdle")),
		EnablePartitioning:         d.partitioning(props),
		MaxMessageSizeInKilobytes:  d.messageSize(props),
		EnableBatchedOperations:    d.optional(d.ourBoolean(props.Get("EnableBatchedOperations"))),
		Status:                     d.status(props.Get("Status")),
		UserMetadata:               d.metadata(props.Get("UserMetadata")),
	}
	o.MaxSizeInMegabytes = d.size(props, o.EnablePartitioning)
	o.Admin.AuthorizationRules = d.authorizationRules(props.Get("AuthorizationRules"), map[string]*node{})
	o.Admin.SupportOrdering = d.optional(d.ourBoolean(props.Get("SupportOrdering")))
	o.SupportOrdering = !o.EnablePartitioning
	if given := o.Admin.SupportOrdering; given != nil {
		o.SupportOrdering = *given
	}
	e := &entity{node: at, config: emulator.EntityConfig{Path: name, Topic: o}}
	d.subscriptions(n.Get("Subscriptions"), e)
	d.register(e)
}

// name reads Name and its node. It reports an invalid name and returns "".
func (d *decoder) name(n *node, rule nameRule) (string, *node) {
	at := n.Get("Name")
	if at == nil {
		d.fail(n, "found no Name", rule.allowed(), "give it a Name")
		return "", n
	}
	if at.Kind != kindString {
		d.fail(at, "found "+at.Describe(), "text in double quotes", "")
		return "", at
	}
	name := strings.TrimSpace(at.Text)
	if wrong := rule.check(name); wrong != "" {
		loose := rule
		loose.profile = emulator.ProfileRelaxed
		fix := d.relaxedFix(!rule.loose() && loose.check(name) == "")
		if strings.Contains(name, `\`) {
			fix = "separate segments with /"
		}
		d.fail(at, "found "+wrong+" ("+quote(name)+")",
			"up to "+strconv.Itoa(rule.most)+" characters: "+rule.allowed(), fix)
		return "", at
	}
	return name, at
}

// properties returns the Properties of an entity, or an empty object.
func (d *decoder) properties(n *node, known []string) *node {
	props := n.Get("Properties")
	if !d.object(props) {
		return &node{Kind: kindObject, Pos: n.Pos, Path: n.Path}
	}
	d.keys(props, known, inertKeys...)
	return props
}

// window reads DuplicateDetectionHistoryTimeWindow.
func (d *decoder) window(props *node) time.Duration {
	return d.duration(props.Get("DuplicateDetectionHistoryTimeWindow"), defaultWindow, windowRange)
}

// timeToLive reads DefaultMessageTimeToLive; 0 is for ever.
func (d *decoder) timeToLive(props *node) time.Duration {
	return none(d.duration(props.Get("DefaultMessageTimeToLive"), defaultTimeToLive, ttlRange))
}

// messageSize reads MaxMessageSizeInKilobytes; 0 is the default.
func (d *decoder) messageSize(props *node) int64 {
	return d.integer(d.ourInteger(props.Get("MaxMessageSizeInKilobytes"), messageRange), 0, messageRange)
}

// size reads MaxSizeInMegabytes; 0 is the default (QUO-1).
func (d *decoder) size(props *node, partitioned bool) int64 {
	of := sizeRange
	if partitioned {
		of = partitionedSize
	}
	return d.integer(d.ourInteger(props.Get("MaxSizeInMegabytes"), of), 0, of)
}

// autoDelete reads AutoDeleteOnIdle; 0 is never.
func (d *decoder) autoDelete(n *node) time.Duration {
	return none(d.duration(d.ourDuration(n, autoDeleteRange), Forever, autoDeleteRange))
}

func (d *decoder) partitioning(props *node) bool {
	n := d.ourBoolean(props.Get("EnablePartitioning"))
	v := d.boolean(n)
	if v && !d.limits.Partitioning {
		d.fail(n, "found EnablePartitioning", "false in this profile", d.relaxedFix(true))
	}
	return v
}

// status reads the status of an entity in any case.
func (d *decoder) status(n *node) emulator.Status {
	all := []string{string(emulator.StatusActive), string(emulator.StatusDisabled),
		string(emulator.StatusSendDisabled), string(emulator.StatusReceiveDisabled)}
	n = d.ourStatus(n, all)
	s := d.text(n, "")
	status := known(all, s)
	if status == "" && s != "" {
		d.fail(n, "found "+n.Describe(), strings.Join(all, ", "), "")
	}
	return emulator.Status(status)
}

func (d *decoder) metadata(n *node) string {
	s := d.text(d.ourText(n), "")
	if most := d.limits.Metadata; most > 0 && len([]rune(s)) > most {
		d.fail(n, "found "+strconv.Itoa(len([]rune(s)))+" characters", "up to "+strconv.Itoa(most)+" characters", "")
	}
	return s
}

// none turns Forever into zero, which stands for it in the options.
func none(d time.Duration) time.Duration {
	if d == Forever {
		return 0
	}
	return d
}

// subscriptions decodes the subscriptions of a topic.
func (d *decoder) subscriptions(n *node, topic *entity) {
	items := d.array(n)
	d.quota(n, len(items), d.limits.Subscriptions, "subscriptions in one topic")
	seen := map[string]*node{}
	counts := &filterCounts{}
	for _, item := range items {
		if !d.object(item) {
			continue
		}
		d.keys(item, []string{"Name", "Properties", "Rules"})
		name, at := d.name(item, nameRule{most: emulator.MaxName, client: true, profile: d.profile.Broker()})
		d.unique(seen, name, at, "subscription")
		props := d.properties(item, subscriptionKeys)
		topic.pending = append(topic.pending, d.queueOptions(props, topic))
		lettering := d.ourBoolean(props.Get("DeadLetteringOnFilterEvaluationExceptions"))
		client := d.client(at, name, props)
		topic.config.Topic.Subscriptions = append(topic.config.Topic.Subscriptions, emulator.SubscriptionOptions{
			Name: name, Rules: d.rules(rulesOf(item), counts, client != nil),
			DeadLetteringOnFilterErrors: d.optional(lettering), Client: client,
		})
	}
	d.quota(n, counts.sql, d.limits.SQLFilters, "SQL filters in one topic")
	d.quota(n, counts.correlation, d.limits.Correlations, "correlation filters in one topic")
}

// client reads ClientAffineProperties of a subscription of JMS clients. Its name says the same but for IsShared.
func (d *decoder) client(at *node, name string, props *node) *emulator.ClientAffine {
	_, client := emulator.ClientAffineOf(name)
	n := props.Get("ClientAffineProperties")
	if client != nil && !client.Durable {
		d.fail(at, "found the name of a subscription that is not durable", "NAME$CLIENTID$D",
			"leave it out: its JMS consumers make it")
	}
	if n == nil || !d.object(n) || len(n.Members) == 0 {
		return client
	}
	d.keys(n, []string{"ClientId", "IsDurable", "IsShared"})
	given := &emulator.ClientAffine{
		ClientID: d.text(n.Get("ClientId"), ""),
		Durable:  n.Get("IsDurable") == nil || d.boolean(n.Get("IsDurable")),
		Shared:   d.boolean(n.Get("IsShared")),
	}
	if n.Get("ClientId") == nil && client != nil {
		given.ClientID = client.ClientID
	}
	if want := "NAME$" + given.ClientID + "$D"; client == nil || !client.Same(&emulator.ClientAffine{
		ClientID: given.ClientID, Durable: given.Durable}) {
		d.fail(n, "found ClientAffineProperties of the subscription "+quote(name), "the name "+quote(want)+
			", and IsDurable true", "name the subscription so, or leave the properties out")
	}
	return given
}

// rulesOf returns the Rules of a subscription, which some files have under Properties.
func rulesOf(n *node) *node {
	if rules := n.Get("Rules"); rules != nil {
		return rules
	}
	return n.Get("Properties").Get("Rules")
}

// filterCounts counts the filters of a topic, for the quota of each kind.
type filterCounts struct{ sql, correlation int }

// rules decodes the rules of a subscription. $Default of one of JMS clients may be a selector (JMS-9).
func (d *decoder) rules(n *node, counts *filterCounts, ofClients bool) []emulator.RuleOptions {
	items := d.array(n)
	d.quota(n, len(items), d.limits.Rules, "rules in one subscription")
	if n == nil || n.Kind != kindArray {
		return nil
	}
	seen := map[string]*node{}
	rules := []emulator.RuleOptions{} // an empty list means only the default rule; nil keeps the broker's rules
	for _, item := range items {
		if !d.object(item) {
			continue
		}
		d.keys(item, []string{"Name", "Properties"})
		name, at := d.name(item, nameRule{most: emulator.MaxName, profile: d.profile.Broker(), system: true})
		d.unique(seen, name, at, "rule")
		rule := d.rule(item, checkOf(name, ofClients))
		rule.Name = name
		if rule.Correlation != nil {
			counts.correlation++
		} else {
			counts.sql++
		}
		rules = append(rules, rule)
	}
	return rules
}
