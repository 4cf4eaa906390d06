package filter

// SystemProperty is a property of the broker, in the sys scope. The names are those of the service's first client
// library; a filter may use any spelling of upper and lower case.
type SystemProperty uint8

// The system properties that a filter may read. The comments give the type and, unless the sender set it, the value
// while a topic evaluates its rules.
const (
	ContentType             SystemProperty = iota // string
	CorrelationID                                 // string
	DeadLetterSource                              // string: null
	DeliveryCount                                 // int: 0
	EnqueuedSequenceNumber                        // long: the topic's sequence number
	EnqueuedTimeUtc                               // DateTime: when the topic accepted the message
	ExpiresAtUtc                                  // DateTime: enqueued plus time to live
	ForcePersistence                              // bool: false
	Label                                         // string; Subject is another name of it
	LockedUntilUtc                                // DateTime: null
	LockToken                                     // Guid: null
	MessageID                                     // string
	PartitionKey                                  // string
	ReplyTo                                       // string
	ReplyToSessionID                              // string
	ScheduledEnqueueTimeUtc                       // DateTime
	SequenceNumber                                // long: the topic's sequence number
	SessionID                                     // string
	Size                                          // long: of the message in bytes
	State                                         // int: 0, active
	TimeToLive                                    // TimeSpan
	To                                            // string
	ViaPartitionKey                               // string
	systemProperties
)

// The headers that only selectors read, as clients of JMS show them.
const (
	JMSMessageID     SystemProperty = systemProperties + 1 + iota // string: ID:AMQP_UUID:.. of a uuid, and the like
	JMSCorrelationID                                              // string, the same
	JMSDeliveryMode                                               // string: PERSISTENT or NON_PERSISTENT
	JMSPriority                                                   // int, 4 if the sender gave none
	JMSTimestamp                                                  // long: ms since 1970; when the sender made it
	JMSXGroupID                                                   // string
	JMSXGroupSeq                                                  // uint
	JMSXUserID                                                    // string
)

// RuleNameProperty is the user property that carries the name of the rule on each copy made by a rule with an action
// (TOP-5). The emulator sets it before the action runs, so that an action may remove it.
const RuleNameProperty = "RuleName"

// systemTable has one line per property: its name, its type and whether an action may set it.
var systemTable = [systemProperties]struct {
	name     string
	kind     Kind
	settable bool
}{
	ContentType:             {"ContentType", KindString, true},
	CorrelationID:           {"CorrelationId", KindString, true},
	DeadLetterSource:        {"DeadLetterSource", KindString, false},
	DeliveryCount:           {"DeliveryCount", KindInt32, false},
	EnqueuedSequenceNumber:  {"EnqueuedSequenceNumber", KindInt64, false},
	EnqueuedTimeUtc:         {"EnqueuedTimeUtc", KindDateTime, false},
	ExpiresAtUtc:            {"ExpiresAtUtc", KindDateTime, false},
	ForcePersistence:        {"ForcePersistence", KindBool, true},
	Label:                   {"Label", KindString, true},
	LockedUntilUtc:          {"LockedUntilUtc", KindDateTime, false},
	LockToken:               {"LockToken", KindGUID, false},
	MessageID:               {"MessageId", KindString, true},
	PartitionKey:            {"PartitionKey", KindString, true},
	ReplyTo:                 {"ReplyTo", KindString, true},
	ReplyToSessionID:        {"ReplyToSessionId", KindString, true},
	ScheduledEnqueueTimeUtc: {"ScheduledEnqueueTimeUtc", KindDateTime, true},
	SequenceNumber:          {"SequenceNumber", KindInt64, false},
	SessionID:               {"SessionId", KindString, true},
	Size:                    {"Size", KindInt64, false},
	State:                   {"State", KindInt32, false},
	TimeToLive:              {"TimeToLive", KindTimeSpan, true},
	To:                      {"To", KindString, true},
	ViaPartitionKey:         {"ViaPartitionKey", KindString, true},
}

// systemNames finds a property by its folded name. The second names are those of newer client libraries.
var systemNames = func() map[string]SystemProperty {
	names := map[string]SystemProperty{
		foldName("Subject"):                 Label,
		foldName("ScheduledEnqueueTime"):    ScheduledEnqueueTimeUtc,
		foldName("TransactionPartitionKey"): ViaPartitionKey,
	}
	for p, row := range systemTable {
		names[foldName(row.name)] = SystemProperty(p)
	}
	return names
}()

// lookupSystem finds a system property by name, in any spelling of upper and lower case.
func lookupSystem(name string) (p SystemProperty, ok bool) {
	p, ok = systemNames[foldName(name)]
	return p, ok
}

// String returns the property's name, without the scope.
func (p SystemProperty) String() string {
	if p < systemProperties {
		return systemTable[p].name
	}
	for name, header := range selectorHeaders {
		if header == p {
			return name
		}
	}
	return "invalid"
}

// kind returns the type of the property.
func (p SystemProperty) kind() Kind { return systemTable[p].kind }

// settable reports whether an action may set the property.
func (p SystemProperty) settable() bool { return systemTable[p].settable }
