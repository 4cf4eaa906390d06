package rest

import "strings"

// The headers of the API itself, in the spelling of net/http.
const (
	HeaderBrokerProperties = "Brokerproperties"
	// BrokerProperties is the spelling in answers.
	BrokerProperties = "BrokerProperties"
)

// standard are headers with a meaning in HTTP, in lower case. They are never properties of a message: neither read
// as one, nor written for one, which would change the meaning of the answer.
var standard = set(`
	accept accept-charset accept-encoding accept-language accept-ranges age allow alt-svc authorization
	cache-control connection cookie date etag expect expires forwarded from host http2-settings if-match
	if-modified-since if-none-match if-range if-unmodified-since keep-alive last-modified link location
	max-forwards origin pragma proxy-authenticate proxy-authorization proxy-connection range referer refresh
	retry-after server set-cookie strict-transport-security te trailer transfer-encoding translate upgrade
	upgrade-insecure-requests user-agent vary via warning www-authenticate x-content-type-options x-frame-options
	brokerproperties
`)

// technical are request headers that tools add by themselves. They describe the request and not its message.
var technical = set(`
	servicebusauthorization servicebussupplementaryauthorization servicebusdlqsupplementaryauthorization
	traceparent tracestate baggage request-id correlation-context dnt x-process-at x-real-ip x-requested-with
	x-http-method-override
`)

// obeyed are further headers that only a browser acts on. One that is recognised gets no properties at all; this is
// for the others.
var obeyed = set(`
	clear-site-data nel report-to reporting-endpoints service-worker-allowed sourcemap speculation-rules
	x-sourcemap
`)

func set(names string) map[string]bool {
	m := make(map[string]bool)
	for n := range strings.FieldsSeq(names) {
		m[n] = true
	}
	return m
}

func hasPrefix(name string, prefixes ...string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// isProperty reports whether a request's header of that name becomes a property of the message. "Priority" does,
// although HTTP now has a header of that name: the service's own examples use it.
func isProperty(name string) bool {
	n := strings.ToLower(name)
	return !standard[n] && !technical[n] &&
		!hasPrefix(n, "content-", "access-control-", "sec-", "x-forwarded-", "x-ms-")
}

// isShown reports whether a property of that name becomes a header of an answer.
func isShown(name string) bool {
	n := strings.ToLower(name)
	if name == "" || standard[n] || obeyed[n] || hasPrefix(n, "content-", "access-control-") {
		return false
	}
	return strings.IndexFunc(name, notInToken) < 0
}

// notInToken reports whether the name of a header can't contain a character [RFC 9110 5.6.2].
func notInToken(r rune) bool {
	alphanumeric := r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	return !alphanumeric && (r > 0x7e || !strings.ContainsRune("!#$%&'*+-.^_`|~", r))
}
