package dotnetfw

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// The steps of the administration, as .NET's administration client takes them:
//
//	GET PATH                    => STATUS CHECK...
//	PUT PATH KIND NAME=VALUE... => STATUS CHECK...   a queue, topic, subscription or rule with these properties
//	UPDATE PATH KIND NAME=VALUE...                   the same with If-Match: *
//	DELETE PATH                 => STATUS
//	LIST PATH                   => STATUS COUNT      page by page, a hundred at a time
//	DELETEALL PATH              => STATUS COUNT      deletes each that a page lists, and goes on with the next page of what is left
//
// A check is "empty" for a feed without entries, NAME=VALUE for a property, or has:TEXT. HOST stands for localhost.

const soap = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"

// always are the properties that the SDK writes for each kind unless a step names others, and their order. A
// property without a value is written only if a step has one.
var always = map[string][]string{
	"queue": {"LockDuration=PT1M", "MaxSizeInMegabytes=1024", "RequiresDuplicateDetection=false", "RequiresSession=false", "DefaultMessageTimeToLive",
		"DeadLetteringOnMessageExpiration=false", "DuplicateDetectionHistoryTimeWindow", "MaxDeliveryCount=10", "EnableBatchedOperations=true",
		"IsAnonymousAccessible=false", "AuthorizationRules=", "Status=Active", "ForwardTo", "UserMetadata", "AutoDeleteOnIdle",
		"EnablePartitioning=false", "ForwardDeadLetteredMessagesTo", "EnableExpress=false", "MaxMessageSizeInKilobytes"},
	"topic": {"DefaultMessageTimeToLive", "MaxSizeInMegabytes=1024", "RequiresDuplicateDetection=false", "DuplicateDetectionHistoryTimeWindow",
		"EnableBatchedOperations=true", "FilteringMessagesBeforePublishing=false", "IsAnonymousAccessible=false", "AuthorizationRules=", "Status=Active",
		"UserMetadata", "SupportOrdering=false", "AutoDeleteOnIdle", "EnablePartitioning=false", "EnableSubscriptionPartitioning=false",
		"EnableExpress=false", "MaxMessageSizeInKilobytes"},
	"subscription": {"LockDuration=PT1M", "RequiresSession=false", "DefaultMessageTimeToLive", "DeadLetteringOnMessageExpiration=false",
		"DeadLetteringOnFilterEvaluationExceptions=true", "DefaultRuleDescription", "MaxDeliveryCount=10", "EnableBatchedOperations=true",
		"Status=Active", "ForwardTo", "UserMetadata", "ForwardDeadLetteredMessagesTo", "AutoDeleteOnIdle"},
}

var descriptions = map[string]string{
	"queue": "QueueDescription", "topic": "TopicDescription", "subscription": "SubscriptionDescription", "rule": "RuleDescription"}

func (p *player) http(verb string, request, want []string) (fault string) {
	switch verb {
	case "LIST", "DELETEALL":
		return p.list(verb, request[0], want)
	}
	method, body := verb, ""
	if verb == "UPDATE" {
		method = "PUT"
	}
	if len(request) > 1 {
		body = description(request[0], request[1], request[2:])
	}
	status, answer, err := p.administer(method, request[0], body, verb == "UPDATE")
	if err != nil {
		return err.Error()
	}
	if fmt.Sprint(status) != want[0] {
		return fmt.Sprintf("answer: %d\n%s", status, answer)
	}
	for _, check := range want[1:] {
		if !holds(check, answer) {
			return fmt.Sprintf("not %q:\n%s", check, answer)
		}
	}
	return ""
}

// administer makes a request as .NET's client does: over plain http, with tokens for the namespace and for the
// target of a forward.
func (p *player) administer(method, path, body string, update bool) (status int, answer string, err error) {
	query := "api-version=2024-05"
	if method == "GET" && !strings.Contains(path, "enrich=") {
		query += "&enrich=False"
	}
	address := fmt.Sprintf("http://localhost:%d%s", p.server.Ports.HTTP, path)
	if address += "?"; strings.Contains(path, "?") {
		address = strings.TrimSuffix(address, "?") + "&"
	}
	request, err := http.NewRequestWithContext(p.Context(), method, address+query, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("Authorization", token("https://localhost/"))
	if strings.Contains(body, "<Forward") {
		request.Header.Set("ServiceBusSupplementaryAuthorization", token("https://localhost/"))
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/atom+xml")
	}
	if update {
		request.Header.Set("If-Match", "*")
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}

// token signs with the key of the root policy.
func token(address string) string {
	resource, end := url.QueryEscape(address), time.Now().Add(time.Hour).Unix()
	mac := hmac.New(sha256.New, []byte("SAS_KEY_VALUE"))
	fmt.Fprintf(mac, "%s\n%d", resource, end)
	signature := url.QueryEscape(base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	return fmt.Sprintf("SharedAccessSignature sr=%s&sig=%s&se=%d&skn=RootManageSharedAccessKey", resource, signature, end)
}

// description writes the body of a request.
func description(path, kind string, properties []string) string {
	given := make(map[string]string)
	for _, property := range properties {
		name, value, _ := strings.Cut(property, "=")
		given[name] = strings.ReplaceAll(value, "HOST", "localhost")
	}
	var inside strings.Builder
	switch kind {
	case "rule":
		name := path[strings.LastIndex(path, "/")+1:]
		if decoded, err := url.PathUnescape(name); err == nil {
			name = decoded
		}
		inside.WriteString(rule(name, given))
	case "subscription":
		first := rule(cmp.Or(given["RuleName"], "$Default"), given)
		given["DefaultRuleDescription"] = "<DefaultRuleDescription>" + first + "</DefaultRuleDescription>"
	}
	for _, property := range always[kind] {
		name, value, written := strings.Cut(property, "=")
		if other, ok := given[name]; ok {
			value, written = other, true
		}
		switch {
		case name == "DefaultRuleDescription":
			inside.WriteString(given[name])
		case written:
			fmt.Fprintf(&inside, "<%s>%s</%[1]s>", name, escape(value))
		}
	}
	return fmt.Sprintf(`<entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml">`+
		`<%s xmlns="%s" xmlns:i="http://www.w3.org/2001/XMLSchema-instance">%s</%[1]s></content></entry>`,
		descriptions[kind], soap, inside.String())
}

// rule writes a filter: SqlFilter=TEXT, FalseFilter, correlation with Label=TEXT and p:NAME=TEXT, or else one that
// takes everything; and SqlAction=TEXT.
func rule(name string, given map[string]string) string {
	filter, text := "TrueFilter", "<SqlExpression>1=1</SqlExpression>"
	var properties strings.Builder
	for _, key := range slices.Sorted(keys(given)) {
		if property, ok := strings.CutPrefix(key, "p:"); ok {
			fmt.Fprintf(&properties, `<KeyValueOfstringanyType><Key>%s</Key>`+
				`<Value xmlns:l28="http://www.w3.org/2001/XMLSchema" i:type="l28:string">%s</Value></KeyValueOfstringanyType>`,
				escape(property), escape(given[key]))
		}
	}
	label, labelled := given["Label"]
	switch sql, isSQL := given["SqlFilter"]; {
	case isSQL:
		filter, text = "SqlFilter", "<SqlExpression>"+escape(sql)+"</SqlExpression><CompatibilityLevel>20</CompatibilityLevel>"
	case given["Filter"] == "False":
		filter, text = "FalseFilter", "<SqlExpression>1=0</SqlExpression>"
	case labelled || properties.Len() > 0:
		filter, text = "CorrelationFilter", ""
		if labelled {
			text = "<Label>" + escape(label) + "</Label>"
		}
		text += "<Properties>" + properties.String() + "</Properties>"
	}
	action := `<Action i:type="EmptyRuleAction"/>`
	if sql, ok := given["SqlAction"]; ok {
		action = `<Action i:type="SqlRuleAction"><SqlExpression>` + escape(sql) + "</SqlExpression></Action>"
	}
	return fmt.Sprintf(`<Filter i:type="%s">%s</Filter>%s<Name>%s</Name>`, filter, text, action, escape(name))
}

func keys(m map[string]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for key := range m {
			if !yield(key) {
				return
			}
		}
	}
}

func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder takes everything
	return b.String()
}

// holds reports whether a check of a step holds.
func holds(check, answer string) bool {
	check = strings.ReplaceAll(check, "HOST", "localhost")
	if check == "empty" {
		return strings.Contains(answer, "<feed") && !strings.Contains(answer, "<entry")
	}
	if text, ok := strings.CutPrefix(check, "has:"); ok {
		return strings.Contains(answer, text)
	}
	name, value, _ := strings.Cut(check, "=")
	return regexp.MustCompile("<(?:[a-z0-9]+:)?" + regexp.QuoteMeta(name+">"+value+"</")).MatchString(html.UnescapeString(answer))
}

var title = regexp.MustCompile(`<entry[^>]*>.*?<title type="text">([^<]*)</title>`)

// list reads a list page by page, and deletes what is on a page before it asks for the next one if it is to.
func (p *player) list(verb, path string, want []string) (fault string) {
	count, skip := 0, 0
	for {
		status, answer, err := p.administer("GET", fmt.Sprintf("%s?$skip=%d&$top=100", path, skip), "", false)
		if err != nil || fmt.Sprint(status) != want[0] {
			return fmt.Sprintf("answer: %d %v\n%s", status, err, answer)
		}
		found := title.FindAllStringSubmatch(answer, -1)
		count += len(found)
		skip += len(found)
		for _, entity := range found {
			if verb == "LIST" {
				continue
			}
			if status, answer, err := p.administer("DELETE", "/"+entity[1], "", false); err != nil || status != http.StatusOK {
				return fmt.Sprintf("delete %s: %d %v\n%s", entity[1], status, err, answer)
			}
		}
		if verb == "DELETEALL" {
			skip = 0
		}
		if len(found) < 100 && (verb == "LIST" || len(found) == 0) {
			break
		}
	}
	if fmt.Sprint(count) != want[1] {
		return fmt.Sprintf("listed %d", count)
	}
	return ""
}
