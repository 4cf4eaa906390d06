package export

import (
	"fmt"
	"html"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"minibus/internal/sas"
)

// The credentials of the imitated namespace.
const (
	testKeyName = "reader"
	testKey     = "dG9wLXNlY3JldC1rZXk="
	testHost    = "contoso.servicebus.windows.net"
)

// azure imitates the administration API of a namespace, in the shapes of recorded traffic: pages of two entities at most, links,
// the order of elements, read-only elements between the others, and the feed for an entity that does not exist.
type azure struct {
	t     *testing.T
	queue []string // entries
	topic []string
	below map[string][]string // entries by list path, in lower case

	mu   sync.Mutex
	asks []string
}

const instance = ` xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"`

const counts = `<CountDetails xmlns:d2p1="http://schemas.microsoft.com/netservices/2011/06/servicebus"><d2p1:ActiveMessageCount>3</d2p1:ActiveMessageCount>` +
	`<d2p1:DeadLetterMessageCount>1</d2p1:DeadLetterMessageCount><d2p1:ScheduledMessageCount>0</d2p1:ScheduledMessageCount>` +
	`<d2p1:TransferMessageCount>0</d2p1:TransferMessageCount><d2p1:TransferDeadLetterMessageCount>0</d2p1:TransferDeadLetterMessageCount></CountDetails>`

const never = "P10675199DT2H48M5.4775807S"

// element is one entry of a feed.
func element(kind, name, inside string) string {
	return `<entry xml:base="https://` + testHost + `/$Resources/queues?$skip=0"><id>https://` + testHost + "/" + name + `?api-version=2021-05</id>` +
		`<title type="text">` + html.EscapeString(name) + `</title><published>2026-03-01T10:00:00Z</published><updated>2026-03-01T10:00:00Z</updated>` +
		`<author><name>contoso</name></author><link rel="self" href="../` + name + `?api-version=2021-05"/><content type="application/xml">` +
		`<` + kind + instance + `>` + inside + `</` + kind + `></content></entry>`
}

// queueEntry is a queue as the service shows it; more goes where ForwardTo stands, end behind everything.
func queueEntry(name, access, more, end string) string {
	return element("QueueDescription", name, `<LockDuration>PT30S</LockDuration><MaxSizeInMegabytes>2048</MaxSizeInMegabytes>`+
		`<RequiresDuplicateDetection>false</RequiresDuplicateDetection><RequiresSession>`+strconv.FormatBool(strings.HasPrefix(name, "sess"))+`</RequiresSession>`+
		`<DefaultMessageTimeToLive>P14D</DefaultMessageTimeToLive><DeadLetteringOnMessageExpiration>true</DeadLetteringOnMessageExpiration>`+
		`<DuplicateDetectionHistoryTimeWindow>PT10M</DuplicateDetectionHistoryTimeWindow><MaxDeliveryCount>10</MaxDeliveryCount>`+
		`<EnableBatchedOperations>true</EnableBatchedOperations><SizeInBytes>12</SizeInBytes><MessageCount>4</MessageCount>`+
		`<IsAnonymousAccessible>false</IsAnonymousAccessible><AuthorizationRules>`+access+`</AuthorizationRules>`+more+
		`<CreatedAt>2026-03-01T10:00:00.1234567Z</CreatedAt><UpdatedAt>2026-03-01T10:00:00.123Z</UpdatedAt><AccessedAt>0001-01-01T00:00:00Z</AccessedAt>`+
		`<SupportOrdering>true</SupportOrdering>`+counts+`<AutoDeleteOnIdle>`+never+`</AutoDeleteOnIdle><EnablePartitioning>false</EnablePartitioning>`+
		`<EntityAvailabilityStatus>Available</EntityAvailabilityStatus>`+end)
}

const queueEnd = `<EnableExpress>false</EnableExpress><MaxMessageSizeInKilobytes>256</MaxMessageSizeInKilobytes>`

func policy(name string, rights ...string) string {
	all := ""
	for _, r := range rights {
		all += "<AccessRights>" + r + "</AccessRights>"
	}
	return `<AuthorizationRule i:type="SharedAccessAuthorizationRule"><ClaimType>SharedAccessKey</ClaimType><ClaimValue>None</ClaimValue><Rights>` + all +
		`</Rights><CreatedTime>2026-03-01T10:00:00Z</CreatedTime><ModifiedTime>2026-03-01T10:00:00Z</ModifiedTime><KeyName>` + name + `</KeyName>` +
		`<PrimaryKey>cHJpbWFyeS1zZWNyZXQ=</PrimaryKey><SecondaryKey>c2Vjb25kYXJ5LXNlY3JldA==</SecondaryKey></AuthorizationRule>`
}

func topicEntry(name, inside string) string {
	return element("TopicDescription", name, `<DefaultMessageTimeToLive>`+never+`</DefaultMessageTimeToLive><MaxSizeInMegabytes>16384</MaxSizeInMegabytes>`+
		`<RequiresDuplicateDetection>true</RequiresDuplicateDetection><DuplicateDetectionHistoryTimeWindow>PT1M</DuplicateDetectionHistoryTimeWindow>`+
		`<EnableBatchedOperations>true</EnableBatchedOperations><SizeInBytes>0</SizeInBytes><FilteringMessagesBeforePublishing>false</FilteringMessagesBeforePublishing>`+
		`<IsAnonymousAccessible>false</IsAnonymousAccessible><AuthorizationRules>`+policy("send-only", "Send")+`</AuthorizationRules><Status>Active</Status>`+
		`<CreatedAt>2026-03-01T10:00:00Z</CreatedAt><UpdatedAt>2026-03-01T10:00:00Z</UpdatedAt><AccessedAt>2026-03-01T10:00:04Z</AccessedAt>`+inside+
		counts+`<SubscriptionCount>5</SubscriptionCount><AutoDeleteOnIdle>P30D</AutoDeleteOnIdle><EnablePartitioning>true</EnablePartitioning>`+
		`<EntityAvailabilityStatus>Available</EntityAvailabilityStatus><EnableSubscriptionPartitioning>false</EnableSubscriptionPartitioning>`+queueEnd)
}

func subscriptionEntry(name, status, forward, deadLetter string) string {
	return element("SubscriptionDescription", name, `<LockDuration>PT1M</LockDuration><RequiresSession>false</RequiresSession>`+
		`<DefaultMessageTimeToLive>`+never+`</DefaultMessageTimeToLive><DeadLetteringOnMessageExpiration>false</DeadLetteringOnMessageExpiration>`+
		`<DeadLetteringOnFilterEvaluationExceptions>true</DeadLetteringOnFilterEvaluationExceptions><MessageCount>0</MessageCount>`+
		`<MaxDeliveryCount>2000</MaxDeliveryCount><EnableBatchedOperations>true</EnableBatchedOperations><Status>`+status+`</Status>`+forward+
		`<CreatedAt>2026-03-01T10:00:00Z</CreatedAt><UpdatedAt>2026-03-01T10:00:00Z</UpdatedAt><AccessedAt>2026-03-01T10:00:00Z</AccessedAt>`+counts+
		deadLetter+`<AutoDeleteOnIdle>`+never+`</AutoDeleteOnIdle><EntityAvailabilityStatus>Available</EntityAvailabilityStatus><IsClientAffine>false</IsClientAffine>`)
}

// ofClient makes a subscription one of JMS clients.
func ofClient(entry, client string, durable, shared bool) string {
	return strings.Replace(entry, "<IsClientAffine>false</IsClientAffine>", fmt.Sprintf("<IsClientAffine>true</IsClientAffine><ClientAffineProperties>"+
		"<ClientId>%s</ClientId><IsDurable>%t</IsDurable><IsShared>%t</IsShared></ClientAffineProperties>", client, durable, shared), 1)
}

func ruleEntry(name, filter, action string) string {
	return element("RuleDescription", name, filter+action+`<CreatedAt>2026-03-01T10:00:00Z</CreatedAt><Name>`+name+`</Name>`)
}

const (
	noAction   = `<Action i:type="EmptyRuleAction"/>`
	trueFilter = `<Filter i:type="TrueFilter"><SqlExpression>1=1</SqlExpression><CompatibilityLevel>20</CompatibilityLevel></Filter>`
)

func typed(key, kind, value string) string {
	return `<KeyValueOfstringanyType><Key>` + key + `</Key><Value i:type="d6p1:` + kind + `" xmlns:d6p1="http://www.w3.org/2001/XMLSchema">` +
		value + `</Value></KeyValueOfstringanyType>`
}

func sqlFilter(text string, parameters ...string) string {
	return `<Filter i:type="SqlFilter"><SqlExpression>` + html.EscapeString(text) + `</SqlExpression><CompatibilityLevel>20</CompatibilityLevel><Parameters>` +
		strings.Join(parameters, "") + `</Parameters></Filter>`
}

func correlationFilter(inside string, properties ...string) string {
	return `<Filter i:type="CorrelationFilter">` + inside + `<Properties>` + strings.Join(properties, "") + `</Properties></Filter>`
}

// newAzure returns a namespace with entities of all kinds.
func newAzure(t *testing.T) *azure {
	const at = "https://" + testHost + "/"
	forward := func(to string) string { return "<Status>Active</Status><ForwardTo>" + at + to + "</ForwardTo>" }
	const active = "<Status>Active</Status>"
	return &azure{t: t,
		queue: []string{
			queueEntry("orders", policy("shop", "Listen", "Send")+policy("Admin", "Manage", "Send", "Listen"), active,
				`<ForwardDeadLetteredMessagesTo>`+at+`Failed</ForwardDeadLetteredMessagesTo>`+queueEnd),
			queueEntry("failed", "", "<Status>SendDisabled</Status><UserMetadata>two\nlines ${x} 'quoted' &quot;twice&quot;</UserMetadata>", queueEnd),
			queueEntry("sap/orders.in", "", forward("orders"), `<EnableExpress>true</EnableExpress><MaxMessageSizeInKilobytes>1024</MaxMessageSizeInKilobytes>`),
			queueEntry("sap_orders-in", "", forward("sap/orders.in"), queueEnd),
			queueEntry("circle-a", "", forward("circle-b"), queueEnd),
			queueEntry("circle-b", "", forward("circle-a"), queueEnd),
			queueEntry("sessions", "", active, queueEnd+`<ForwardTo>`+at+`orders</ForwardTo>`),
			queueEntry("1st", "", "<Status>Renaming</Status>", queueEnd),
			queueEntry("jms-temp-01234567-89ab-cdef-0123-456789abcdef", "", active, queueEnd),
		},
		topic: []string{topicEntry("events", ""), topicEntry("audit", "<SupportOrdering>true</SupportOrdering>")},
		below: map[string][]string{
			"events/subscriptions": {
				subscriptionEntry("all", "Active", "", ""),
				subscriptionEntry("eu", "ReceiveDisabled", "<ForwardTo>sb://"+testHost+"/sap/orders.in</ForwardTo>",
					"<ForwardDeadLetteredMessagesTo>"+at+"gone</ForwardDeadLetteredMessagesTo>"),
				subscriptionEntry("none", "Active", "", ""),
				subscriptionEntry("to-topic", "SendDisabled", "<ForwardTo>"+at+"events</ForwardTo>", ""),
				ofClient(subscriptionEntry("mail$app$D", "Active", "", ""), "app", true, true),
				ofClient(subscriptionEntry("post$$D", "Active", "", ""), "", true, false),
				ofClient(subscriptionEntry("loose$app$ND", "Active", "", ""), "app", false, true),
			},
			"events/subscriptions/mail$app$d/rules": {ruleEntry("$Default", sqlFilter("size > 1 AND urgent = TRUE"), noAction)},
			"events/subscriptions/post$$d/rules":    {ruleEntry("$Default", trueFilter, noAction)},
			"events/subscriptions/all/rules":        {ruleEntry("$Default", trueFilter, noAction)},
			"events/subscriptions/eu/rules": {
				ruleEntry("$Default", sqlFilter("amount > @min AND [a@b] = @Text OR note = '@min'", typed("@min", "int", "-100"), typed("@text", "string", "it's ${x}")),
					`<Action i:type="SqlRuleAction"><SqlExpression>SET tier = @t</SqlExpression><CompatibilityLevel>20</CompatibilityLevel><Parameters>`+
						typed("@t", "double", "2")+`</Parameters></Action>`),
				ruleEntry("Default", correlationFilter(`<CorrelationId>c</CorrelationId><Label>O'Neill</Label>`, typed("region", "string", "eu"), typed("a b", "string", "%{x}")), noAction),
				ruleEntry("numbers", correlationFilter(`<ReplyToSessionId>r</ReplyToSessionId>`, typed("n]", "long", "5"), typed("b", "boolean", "true"), typed("f", "double", "1E+30")), noAction),
				ruleEntry("dates", correlationFilter("", typed("d", "dateTime", "2026-03-01T10:00:00Z")), noAction),
				ruleEntry("future", `<Filter i:type="FutureFilter"/>`, noAction),
			},
			"events/subscriptions/to-topic/rules": {ruleEntry("off", `<Filter i:type="FalseFilter"><SqlExpression>1=0</SqlExpression></Filter>`, noAction)},
		}}
}

// ServeHTTP answers like the service.
func (a *azure) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	a.asks = append(a.asks, r.URL.RequestURI())
	a.mu.Unlock()
	path := strings.Trim(r.URL.Path, "/")
	if !a.allowed(w, r, path) {
		return
	}
	switch lower := strings.ToLower(path); {
	case lower == "$namespaceinfo":
		a.answer(w, element("NamespaceInfo", "contoso", `<CreatedTime>2026-03-01T10:00:00Z</CreatedTime><MessagingSKU>Standard</MessagingSKU><Name>contoso</Name>`))
	case lower == "$resources/queues":
		a.page(w, r, a.queue)
	case lower == "$resources/topics":
		a.page(w, r, a.topic)
	case a.below[lower] != nil || strings.Contains(lower, "/subscriptions"):
		a.page(w, r, a.below[lower])
	default:
		for _, e := range append(append([]string{}, a.queue...), a.topic...) {
			if strings.Contains(e, `<title type="text">`+path+`</title>`) {
				a.answer(w, e)
				return
			}
		}
		a.answer(w, `<feed xmlns="http://www.w3.org/2005/Atom"><title type="text">Publicly Listed Services</title><updated>2026-03-01T10:05:00Z</updated></feed>`)
	}
}

func (a *azure) answer(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "application/atom+xml;type=feed;charset=utf-8")
	_, _ = w.Write([]byte(body))
}

// allowed checks the token and the version of a request.
func (a *azure) allowed(w http.ResponseWriter, r *http.Request, path string) bool {
	token, err := sas.ParseToken(r.Header.Get("Authorization"))
	if err == nil {
		err = token.Covers(path)
	}
	isOurs := token.SignedBy(testKey) && token.Expires.After(time.Now())
	switch {
	case err != nil, token.KeyName == testKeyName && !isOurs:
		w.WriteHeader(http.StatusUnauthorized)
		a.answer(w, `<Error><Code>401</Code><Detail>InvalidSignature: The token has an invalid signature. TrackingId:x, Timestamp:y</Detail></Error>`)
	case r.URL.Query().Get("api-version") != "2021-05":
		w.WriteHeader(http.StatusBadRequest)
		a.answer(w, `<Error><Code>400</Code><Detail>SubCode=40000. api-version</Detail></Error>`)
	default:
		return true
	}
	return false
}

func (a *azure) page(w http.ResponseWriter, r *http.Request, all []string) {
	skip, _ := strconv.Atoi(r.URL.Query().Get("$skip"))
	top, _ := strconv.Atoi(r.URL.Query().Get("$top"))
	top = min(top, 2)
	from, to := min(skip, len(all)), min(skip+top, len(all))
	next := ""
	if to < len(all) {
		next = fmt.Sprintf(`<link rel="next" href="https://elsewhere.example/%s?%%24skip=%d"/>`, r.URL.Path, to)
	}
	a.answer(w, `<?xml version="1.0" encoding="utf-8"?><feed xmlns="http://www.w3.org/2005/Atom"><title type="text">Queues</title><id>x</id>`+
		`<updated>2026-03-01T10:05:00Z</updated><link rel="self" href="x"/>`+next+strings.Join(all[from:to], "")+`</feed>`)
}
