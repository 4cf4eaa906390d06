package mgmt

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
	"minibus/internal/loglimit"
	"minibus/internal/sas"
)

const authorization = "Authorization"

// checkedBus has a topic t with a subscription s, queues q and other, and checks tokens. The namespace has policies named
// manage, send and listen, q and t have policies named qmanage and tlisten; a policy's key is its name followed by -key.
func checkedBus(t *testing.T) *bus {
	t.Helper()
	b := newTopicBus(t)
	b.admin("q", "qmanage", "Manage", "Send", "Listen")
	wants(t, b.do("PUT", "/other", queueEntry("")), 201)
	wants(t, b.do("PUT", "/t", topicEntry(ruleXML("tlisten", "Listen")), ifMatch, "*"), 200)
	ring := sas.NewRing([]sas.Policy{
		{Name: "manage", Primary: "manage-key", Secondary: "manage-second", Claims: sas.Manage | sas.Send | sas.Listen},
		{Name: "send", Primary: "send-key", Claims: sas.Send},
		{Name: "listen", Primary: "listen-key", Claims: sas.Listen},
	}, b.policies)
	b.handler = New(Options{Broker: b.Broker, Access: ringed(ring)})
	return b
}

// ringed is the Access of a handler with one ring for all namespaces.
func ringed(r *sas.Ring) func(*emulator.Namespace) *sas.Ring {
	return func(*emulator.Namespace) *sas.Ring { return r }
}

// policies returns those of an entity, as package server does.
func (b *bus) policies(path string) []sas.Policy {
	q, err := b.ns.Entity(path)
	if err != nil {
		return nil
	}
	var list []sas.Policy
	for _, r := range q.Options().Admin.AuthorizationRules {
		list = append(list, sas.Policy{Name: r.KeyName, Primary: r.PrimaryKey, Claims: sas.ParseClaims(r.Rights)})
	}
	return list
}

// admin creates or changes a queue so that it has a policy.
func (b *bus) admin(queue, policy string, rights ...string) {
	b.t.Helper()
	wants(b.t, b.do("PUT", "/"+queue, queueEntry(ruleXML(policy, rights...))), 201)
}

// ruleXML returns a policy of an entity whose key is its name followed by -key.
func ruleXML(name string, rights ...string) string {
	return `<AuthorizationRules><AuthorizationRule i:type="SharedAccessAuthorizationRule"><Rights><AccessRights>` +
		strings.Join(rights, "</AccessRights><AccessRights>") + `</AccessRights></Rights><KeyName>` + name + `</KeyName><PrimaryKey>` +
		name + `-key</PrimaryKey></AuthorizationRule></AuthorizationRules>`
}

// signed returns a token of a policy for a path, valid for an hour.
func signed(policy, path string) string {
	return sas.Sign("http://localhost:5300/"+path, policy, policy+"-key", time.Now().Add(time.Hour))
}

// as sends a request with a token of a policy for the whole address, as clients do.
func (b *bus) as(policy, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	b.t.Helper()
	return b.do(method, target, body, append(headers, authorization, signed(policy, target[1:]))...)
}

// Every operation, with the rights that it needs and the texts of the service.
var adminOperations = []struct {
	method, target, body string
	update               bool
	allowed              string // policies of the namespace beside manage
	denied               string // text for the others
}{
	{"GET", "/$namespaceinfo" + v2021, "", false, "send listen", ""},
	{"GET", "/q" + v2021, "", false, "", "Manage,EntityRead claims required for this operation. "},
	{"GET", "/t" + v2021, "", false, "", "Manage,EntityRead claims required for this operation. "},
	{"GET", "/none" + v2021, "", false, "send listen", ""},
	{"GET", "/$Resources/queues" + v2021, "", false, "", "Manage,EntityRead claims required for this operation. "},
	{"GET", "/$Resources/topics" + v2021, "", false, "", "Manage,EntityRead claims required for this operation. "},
	{"PUT", "/new", queueEntry(""), false, "", "Authorization failed for specified action: Manage,EntityWrite. "},
	{"PUT", "/q", queueEntry(""), true, "", "Authorization failed for specified action: Manage,EntityWrite. "},
	{"PUT", "/t", topicEntry(""), true, "", "Authorization failed for specified action: Manage,EntityWrite. "},
	{"GET", "/t/Subscriptions/s", "", false, "", "401 SubCode=40100: Unauthorized : Unauthorized access for 'GetSubscription' operation on endpoint 'sb://localhost:5300/t/Subscriptions/s'. "},
	{"GET", "/t/Subscriptions", "", false, "", "Unauthorized access for 'EnumerateSubscriptions' operation"},
	{"PUT", "/t/Subscriptions/s", subscriptionEntry(""), true, "", "Unauthorized access for 'CreateOrUpdateSubscription' operation"},
	{"PUT", "/t/Subscriptions/new", subscriptionEntry(""), false, "", "Unauthorized access for 'CreateOrUpdateSubscription' operation"},
	{"GET", "/t/Subscriptions/s/Rules", "", false, "listen", "Unauthorized access for 'EnumerateRules' operation"},
	{"GET", "/t/Subscriptions/s/Rules/$Default", "", false, "", "Unauthorized access for 'GetRule' operation"},
	{"PUT", "/t/Subscriptions/s/Rules/r", ruleBody(""), false, "", "Unauthorized access for 'CreateOrUpdateRule' operation"},
	{"DELETE", "/t/Subscriptions/s/Rules/r", "", false, "", "Unauthorized access for 'DeleteRule' operation"},
	{"DELETE", "/t/Subscriptions/s", "", false, "", "Unauthorized access for 'DeleteSubscription' operation"},
	{"DELETE", "/q", "", false, "", "Authorization failed for specified action: Manage,EntityDelete. "},
	{"DELETE", "/none", "", false, "", "Authorization failed for specified action: Manage,EntityDelete. "},
}

func TestChecklist16_EachOperationNeedsItsRight(t *testing.T) {
	b := checkedBus(t)
	wants(t, b.as("listen", "GET", "/missing", ""), 200, "Publicly Listed Services") // that an entity is missing is no secret
	for _, o := range adminOperations {
		var headers []string
		if o.update {
			headers = []string{ifMatch, "*"}
		}
		for _, policy := range []string{"send", "listen"} {
			w := b.as(policy, o.method, o.target, o.body, headers...)
			if strings.Contains(o.allowed, policy) {
				wants(t, w, 200)
				continue
			}
			wants(t, w, 401, "<Code>401</Code>", o.denied, "TrackingId:")
			if w.Header().Get("WWW-Authenticate") == "" {
				t.Error("401 without WWW-Authenticate")
			}
		}
		if w := b.as("manage", o.method, o.target, o.body, headers...); w.Code == 401 {
			t.Errorf("%s %s by manage: %s", o.method, o.target, w.Body)
		}
	}
}

func TestChecklist20_TokensThatOpenNothing(t *testing.T) {
	b := checkedBus(t)
	hour := time.Now().Add(time.Hour)
	good := signed("manage", "q")
	tests := []struct{ name, token, text string }{
		{"none", "", "MissingToken: The authorization header was not found. "},
		{"wrong key", sas.Sign("http://localhost:5300/q", "manage", "other", hour), "InvalidSignature: The token has an invalid signature. "},
		{"unknown policy", signed("nobody", "q"), "InvalidSignature: The token has an invalid signature. "},
		{"another entity's policy", signed("tlisten", "q"), "InvalidSignature: "},
		{"tampered resource", strings.Replace(good, "5300", "5301", 1), "InvalidSignature: "},
		{"tampered expiry", strings.Replace(good, "se=", "se=1", 1), "InvalidSignature: "},
		{"expired", sas.Sign("http://localhost:5300/q", "manage", "manage-key", time.Unix(946684800, 0)), "ExpiredToken: The token is expired. Expiration time: '2000-01-01 00:00:00Z'. "},
		{"wrong resource", signed("manage", "other"), "InvalidAudience: The authorization header contains a token with a wrong audience. "},
		{"a name that only begins so", signed("manage", "qq"), "InvalidAudience: "},
		{"a resource below", signed("manage", "q/$management"), "InvalidAudience: "},
		{"an entity's policy for the namespace", signed("qmanage", ""), "InvalidAudience: "},
		{"web token", "Bearer eyJhbGciOiJub25lIn0.e30.", "MalformedToken: "},
		{"no signature", strings.Replace(good, "sig=", "sig=&x=", 1), "MalformedToken: "},
		{"two resources", good + "&sr=http%3A%2F%2Fother", "MalformedToken: "},
	}
	for _, tt := range tests {
		for _, method := range []string{"GET", "PUT", "DELETE"} {
			w := b.do(method, "/q", queueEntry(""), authorization, tt.token, ifMatch, "*")
			if w.Code != 401 || !strings.Contains(w.Body.String(), "<Detail>"+tt.text) {
				t.Errorf("%s: %d %s", tt.name, w.Code, w.Body)
			}
			lacks(t, w, "-key")
		}
		if w := b.do("GET", "/$Resources/queues", "", authorization, tt.token); tt.token != "" {
			wants(t, w, 401, "<Detail>claim is empty or token is invalid. ")
		}
		for _, operation := range adminOperations {
			if w := b.do(operation.method, operation.target, operation.body, authorization, tt.token); w.Code != 401 {
				t.Errorf("%s: %s %s: %d", tt.name, operation.method, operation.target, w.Code)
			}
		}
	}
	wants(t, b.do("GET", "/q", "", authorization, sas.Sign("sb://other.example:1/Q/", "MANAGE", "manage-second", hour)), 200)
	wants(t, b.do("GET", "/q", "", authorization, strings.Replace(good, "SharedAccessSignature", "sharedaccesssignature", 1)), 200)
}

// TestChecklist20_TheVectorOverHTTP: a recorded token is valid until its expiry.
func TestChecklist20_TheVectorOverHTTP(t *testing.T) {
	const vector = "SharedAccessSignature sr=sb%3A%2F%2Flocalhost%2Forders&sig=AcsLFPvYmMHJ1V8fv8kh19uR7GtcEi7a8p1%2FDwjsbrk%3D&se=1893456000&skn=RootManageSharedAccessKey"
	synctest.Test(t, func(t *testing.T) {
		b := newTimedBus(t, emulator.ProfileRelaxed)
		defer b.close()
		b.makeQueue("orders", emulator.QueueOptions{})
		b.makeQueue("other", emulator.QueueOptions{})
		root := sas.Policy{Name: sas.DefaultKeyName, Primary: sas.DefaultKey, Claims: sas.Manage}
		b.handler = New(Options{Broker: b.Broker, Access: ringed(sas.NewRing([]sas.Policy{root}, b.policies))})
		for _, try := range []struct{ method, rest, body string }{{"GET", "", ""}, {"POST", "/messages", "m"}, {"POST", "/messages/head?timeout=0", ""}} {
			ask := func(entity, token string) *httptest.ResponseRecorder {
				return b.do(try.method, "/"+entity+try.rest, try.body, authorization, token)
			}
			if w := ask("orders", vector); w.Code >= 400 {
				t.Errorf("%s %s: %d %s", try.method, try.rest, w.Code, w.Body)
			}
			wants(t, ask("orders", strings.Replace(vector, "orders", "0rders", 1)), 401, "InvalidSignature")
			wants(t, ask("other", vector), 401, "InvalidAudience")
		}
		time.Sleep(time.Until(time.Unix(1893456000, 0).Add(sas.Skew + time.Second)))
		wants(t, b.do("GET", "/orders", "", authorization, vector), 401, "ExpiredToken: The token is expired. Expiration time: '2030-01-01 00:00:00Z'. ")
		wants(t, b.do("POST", "/orders/messages", "m", authorization, vector), 401, "ExpiredToken")
	})
}

// TestAFloodOfRefusedTokens: the log has some lines, and the number of those dropped, for all operations together. It does not hide
// tokens refused for another reason.
func TestAFloodOfRefusedTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTimedBus(t, emulator.ProfileRelaxed)
		defer b.close()
		b.makeQueue("q", emulator.QueueOptions{})
		var text bytes.Buffer
		log := slog.New(slog.NewTextHandler(&text, nil))
		b.handler = New(Options{Broker: b.Broker, Access: ringed(sas.NewRing(nil, b.policies)), Logger: log,
			Refusals: loglimit.New(log)})
		for range 25 {
			wants(t, b.do("GET", "/q", "", authorization, "x"), 401)
			wants(t, b.do("DELETE", "/q/messages/head", "", authorization, "x"), 401)
		}
		wants(t, b.do("GET", "/q", ""), 401)
		time.Sleep(time.Second)
		synctest.Wait()
		got := text.String()
		if strings.Count(got, "reason=malformed") != 10 || !strings.Contains(got, `kind="token malformed" leftOut=40`) {
			t.Errorf("50 malformed tokens:\n%s", got)
		}
		if !strings.Contains(got, "reason=missing") {
			t.Errorf("the refusal for another reason is hidden:\n%s", got)
		}
	})
}

func TestPoliciesOfAnEntityCountForItAlone(t *testing.T) {
	b := checkedBus(t)
	wants(t, b.as("qmanage", "GET", "/q", ""), 200)
	wants(t, b.as("qmanage", "PUT", "/q/below", queueEntry("")), 401, "InvalidSignature")
	wants(t, b.as("qmanage", "GET", "/other", ""), 401, "InvalidSignature")
	wants(t, b.as("tlisten", "GET", "/t/Subscriptions/s/Rules", ""), 200)
	wants(t, b.as("tlisten", "GET", "/t/Subscriptions/s", ""), 401, "'GetSubscription'")
	// A change counts at once.
	wants(t, b.as("qmanage", "PUT", "/q", queueEntry(ruleXML("later", "Manage", "Send", "Listen")), ifMatch, "*"), 200)
	wants(t, b.as("qmanage", "GET", "/q", ""), 401, "InvalidSignature")
	wants(t, b.as("later", "GET", "/q", ""), 200)
	b.restart()
	wants(t, b.as("later", "GET", "/q", ""), 200)
	wants(t, b.as("later", "DELETE", "/q", ""), 200)
	wants(t, b.as("later", "GET", "/q", ""), 401, "InvalidSignature")
}

func TestForwardingNeedsTheRightToManageTheTarget(t *testing.T) {
	b := checkedBus(t)
	wants(t, b.as("manage", "PUT", "/target", queueEntry(ruleXML("own", "Manage", "Send", "Listen"))), 201)
	forward := queueEntry(ruleXML("qmanage", "Manage", "Send", "Listen") + "<ForwardTo>sb://localhost/target</ForwardTo>")
	letters := queueEntry("<ForwardDeadLetteredMessagesTo>target</ForwardDeadLetteredMessagesTo>")
	const refused = "<Detail>SubCode=40100. Unauthorized. "
	for _, tt := range []struct{ body, header, other string }{
		{forward, headerForwardTo, headerDeadLetters}, {letters, headerDeadLetters, headerForwardTo},
	} {
		update := func(policy string, headers ...string) *httptest.ResponseRecorder {
			return b.as(policy, "PUT", "/q", tt.body, append(headers, ifMatch, "*")...)
		}
		wants(t, update("qmanage"), 401, refused, "SystemTracker:sbemulatorns:Queue:q")
		wants(t, update("qmanage", tt.other, signed("own", "target")), 401, refused)
		wants(t, update("qmanage", tt.header, signed("own", "other")), 401, refused)
		wants(t, update("qmanage", tt.header, signed("send", "target")), 401, refused)
		wants(t, update("manage", tt.header, "rubbish"), 401, refused)
		wants(t, update("qmanage", tt.header, signed("own", "target")), 200)
		wants(t, update("manage"), 401, refused) // a token for q alone, though its policy has rights elsewhere
		wants(t, b.do("PUT", "/q", tt.body, ifMatch, "*", authorization, signed("manage", "")), 200)
		wants(t, update("manage", tt.header, signed("manage", "")), 200) // one client signs the host alone
		b.do("PUT", "/q", "")
		wants(t, b.as("manage", "PUT", "/q", queueEntry(ruleXML("qmanage", "Manage", "Send", "Listen")), ifMatch, "*"), 200)
	}
	subscription := subscriptionEntry("<ForwardTo>target</ForwardTo>")
	wants(t, b.as("manage", "PUT", "/t/Subscriptions/f", subscription, headerForwardTo, "x"), 401, refused, "SystemTracker:sbemulatorns:Topic:t|f")
	wants(t, b.as("manage", "PUT", "/t/Subscriptions/f", subscription), 401, refused)
	wants(t, b.as("manage", "PUT", "/t/Subscriptions/f", subscription, headerForwardTo, signed("manage", "target")), 201)
}

// TestAnEntitysPolicyEndsWhereItsNameDoes: it gives no rights to entities whose path begins with the name, however it is written.
func TestAnEntitysPolicyEndsWhereItsNameDoes(t *testing.T) {
	b := checkedBus(t)
	all := ruleXML("tmanage", "Manage", "Send", "Listen")
	wants(t, b.as("manage", "PUT", "/t", topicEntry(all), ifMatch, "*"), 200)
	wants(t, b.as("manage", "PUT", "/q/target", queueEntry("")), 201)
	wants(t, b.as("manage", "PUT", "/t/Subscriptions/x/y", topicEntry("")), 201)
	wants(t, b.as("manage", "PUT", "/t/Subscriptions/x/y/Subscriptions/s", subscriptionEntry("")), 201)
	for _, tt := range []struct{ policy, method, target, body string }{
		{"qmanage", "PUT", "/q", queueEntry("<ForwardTo>q/target</ForwardTo>")},
		{"qmanage", "PUT", "/q", queueEntry("<ForwardDeadLetteredMessagesTo>sb://h/Q%2Ftarget</ForwardDeadLetteredMessagesTo>")},
		{"qmanage", "GET", "/q/target", ""},
		{"tmanage", "PUT", "/t/Subscriptions/s", subscriptionEntry("<ForwardTo>t/Subscriptions/x/y</ForwardTo>")},
		{"tmanage", "GET", "/t/Subscriptions/x/y", ""},
		{"tmanage", "DELETE", "/t/Subscriptions/x/y", ""},
		{"tmanage", "DELETE", "/t%2FSubscriptions%2Fx%2Fy", ""},
		{"tmanage", "PUT", "/t/Subscriptions/x/z", queueEntry("")},
		{"tmanage", "DELETE", "/t/Subscriptions/x/y/Subscriptions/s", ""},
		{"tmanage", "POST", "/t/Subscriptions/x/y/messages", "m"},
	} {
		w := b.do(tt.method, tt.target, tt.body, ifMatch, "*", authorization, signed(tt.policy, tt.target[1:2]))
		wants(t, w, 401)
	}
	// A subscription with a slash in its name does not exist, so this does not reach another topic's.
	for _, method := range []string{"GET", "DELETE"} {
		wants(t, b.do(method, "/t/Subscriptions/x%2Fy%2FSubscriptions%2Fs", "", authorization, signed("tmanage", "t")), 404)
		wants(t, b.do(method, "/t/Subscriptions/x%2Fy%2FSubscriptions%2Fs/Rules/$Default", "", authorization, signed("tmanage", "t")), 404)
	}
	wants(t, b.as("manage", "GET", "/t/Subscriptions/x/y/Subscriptions/s/Rules/$Default", ""), 200)
	// An encoded slash does not turn a subscription into a queue.
	wants(t, b.do("PUT", "/t%2FSubscriptions%2Fnew", queueEntry(""), authorization, signed("tmanage", "t")), 400, "does not describe a subscription")
	wants(t, b.do("GET", "/t%2fsubscriptions%2Fs", "", authorization, signed("tmanage", "t")), 200, "SubscriptionDescription")
}

func TestWhatIsOpenToEverybody(t *testing.T) {
	b := checkedBus(t)
	for _, path := range []string{"/health", "/livez", "/readyz", "/"} {
		wants(t, b.do("GET", path, ""), 200)
	}
	wants(t, b.do("PUT", "/", queueEntry("")), 401, "MissingToken")
	wants(t, b.do("PATCH", "/q", ""), 401, "MissingToken")
	wants(t, b.do("GET", "/q/$DeadLetterQueue", ""), 401, "MissingToken")
}

// Other APIs under the paths of entities call authorize.
func TestAuthorizeNamesTheClaim(t *testing.T) {
	b := checkedBus(t)
	h := &handler{options: Options{Ready: func() bool { return true }, Broker: b.Broker,
		Access: ringed(sas.NewRing([]sas.Policy{{Name: "send", Primary: "send-key", Claims: sas.Send}}, b.policies)), Logger: slog.New(slog.DiscardHandler)}}
	r := httptest.NewRequest(http.MethodPost, "http://localhost:5300/q/messages?timeout=5", nil)
	x := h.request(httptest.NewRecorder(), r)
	if err := h.find(x); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		token string
		need  sas.Claims
		text  string
	}{
		{signed("send", "q"), sas.Send, ""},
		{signed("send", "q/messages?timeout=5"), sas.Send, ""},
		{signed("qmanage", "q"), sas.Listen, ""},
		{signed("send", ""), sas.Listen, "Unauthorized access. 'Listen' claim(s) are required to perform this operation. Resource: 'sb://localhost:5300/q'. "},
		{signed("send", "q/messages/head"), sas.Send, "InvalidAudience: "},
		{"", sas.Send, "MissingToken: "},
	} {
		r.Header.Set(authorization, tt.token)
		err := h.authorize(x, tt.need, "q")
		if tt.text == "" && err != nil || tt.text != "" && (err == nil || problemOf(err).status != 401 || !strings.HasPrefix(err.Error(), tt.text)) {
			t.Errorf("%s for %s: %v", tt.token, tt.need, err)
		}
	}
	h.options.Ready = func() bool { return false }
	if err := h.find(x); problemOf(err).status != 503 {
		t.Errorf("before it is ready: %v", err)
	}
}

func TestDEC10_AnyTokenAndNone(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	noted := 0
	b.handler = New(Options{Broker: b.Broker, Unverified: func() { noted++ }})
	wants(t, b.do("PUT", "/q", queueEntry("")), 201)
	wants(t, b.do("GET", "/q", "", authorization, "rubbish"), 200)
	wants(t, b.do("GET", "/q", "", authorization, "Bearer eyJ.e.s"), 200)
	if noted != 1 {
		t.Errorf("noted %d times", noted)
	}
}

// A client without a valid token keeps no idle connection. One with a valid token does, even if the token does not give the right.
func TestARequestWithoutAValidTokenEndsItsConnection(t *testing.T) {
	b := checkedBus(t)
	ends := func(name string, w *httptest.ResponseRecorder, want bool) {
		t.Helper()
		if got := w.Header().Get("Connection") == "close"; got != want {
			t.Errorf("%s: answered %d, ends %t, want %t", name, w.Code, got, want)
		}
	}
	for _, target := range []string{"/", "/q", "/none", "/q/messages/head", "/health", "/livez", "/readyz", "/$Resources/queues", "/subscriptions/x"} {
		for _, method := range []string{"GET", "DELETE", "OPTIONS"} {
			ends(method+" "+target, b.do(method, target, ""), true)
			ends(method+" "+target+" with rubbish", b.do(method, target, "", authorization, "x"), true)
		}
	}
	ends("expired", b.do("GET", "/q", "", authorization, sas.Sign("http://localhost/q", "manage", "manage-key", time.Now().Add(-time.Hour))), true)
	ends("valid", b.as("manage", "GET", "/q", ""), false)
	ends("valid at runtime", b.as("manage", "POST", "/q/messages", "x"), false)
	ends("valid without the right", b.as("listen", "DELETE", "/q", ""), false)
	ends("valid without the right at runtime", b.as("listen", "POST", "/q/messages", "x"), false)

	unchecked := newTopicBus(t) // tokens are not checked
	ends("unchecked", unchecked.do("GET", "/none", ""), false)
	ends("unchecked health", unchecked.do("GET", "/health", ""), false)
}
