package server

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/config"
	"minibus/emulator"
	"minibus/internal/entra"
	"minibus/internal/sas"
	"minibus/mgmt/arm"
	"minibus/mgmt/control"
)

// The identities of these tests, by what their roles allow.
var (
	manager  = "aaaaaaaa-0000-4000-8000-000000000001"
	sender   = "aaaaaaaa-0000-4000-8000-000000000002"
	listener = "aaaaaaaa-0000-4000-8000-000000000003"
	roleless = "aaaaaaaa-0000-4000-8000-000000000004"
	elsewho  = "aaaaaaaa-0000-4000-8000-000000000005" // everything, on other entities and in the other namespace
)

// rolesOf plays the role assignments: of three identities on a namespace, of one on another one and on other entities.
func rolesOf(name string) func(*emulator.Namespace, string, []string) sas.Claims {
	return func(ns *emulator.Namespace, path string, principals []string) (c sas.Claims) {
		if ns.Name() != name {
			if slices.Contains(principals, elsewho) {
				return sas.Manage
			}
			return 0
		}
		for _, p := range principals {
			c |= map[string]sas.Claims{manager: sas.Manage, sender: sas.Send, listener: sas.Listen}[p]
			if p == elsewho && path == "other" {
				c |= sas.Manage
			}
		}
		return c
	}
}

// webToken makes tokens of the server's issuer.
func webToken(t *testing.T, a *Server, oid string, change func(*entra.Token)) string {
	t.Helper()
	return webTokenAt(t, a, oid, time.Now(), entra.KindAccess, change)
}

func webTokenAt(t *testing.T, a *Server, oid string, at time.Time, kind string, change func(*entra.Token)) string {
	t.Helper()
	key, err := a.identity.key()
	if err != nil {
		t.Fatal(err)
	}
	return tokenBy(t, key, oid, at, kind, change)
}

func tokenBy(t *testing.T, key *entra.Key, oid string, at time.Time, kind string, change func(*entra.Token)) string {
	t.Helper()
	token := entra.Token{Issuer: "http://localhost:5300/" + entra.Tenant + "/v2.0", Audience: []string{"https://servicebus.azure.net/"},
		Object: oid, Tenant: entra.Tenant, App: oid}
	if change != nil {
		change(&token)
	}
	text, err := key.Sign(kind, token, at, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func constant(text string) shown { return func(string) string { return text } }

// worthlessWeb are web tokens that give no rights.
func worthlessWeb(t *testing.T, p *place) map[string]string {
	t.Helper()
	good := webToken(t, p.Server, manager, nil)
	parts := strings.Split(good, ".")
	unsigned := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","typ":"JWT"}`))
	strange, err := entra.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"no role":          webToken(t, p.Server, roleless, nil),
		"roles elsewhere":  webToken(t, p.Server, elsewho, nil),
		"alg none":         unsigned + "." + parts[1] + ".",
		"expired":          webTokenAt(t, p.Server, manager, time.Now().Add(-2*time.Hour), entra.KindAccess, nil),
		"not yet":          webTokenAt(t, p.Server, manager, time.Now().Add(time.Hour), entra.KindAccess, nil),
		"a refresh token":  webTokenAt(t, p.Server, manager, time.Now(), entra.KindRefresh, nil),
		"an unknown key":   tokenBy(t, strange, manager, time.Now(), entra.KindAccess, nil),
		"the developer's":  tokenBy(t, strange, entra.Developer, time.Now(), entra.KindAccess, nil),
		"of the cloud":     tokenBy(t, strange, manager, time.Now(), entra.KindAccess, func(x *entra.Token) { x.Issuer = "https://sts.windows.net/" + entra.Tenant + "/" }),
		"for a vault":      webToken(t, p.Server, manager, func(x *entra.Token) { x.Audience = []string{"https://vault.azure.net"} }),
		"for another host": webToken(t, p.Server, manager, func(x *entra.Token) { x.Audience = []string{"https://second.localhost/"} }),
		"a changed byte":   parts[0] + "." + parts[1] + "." + strings.Map(swapAB, parts[2][:300]) + parts[2][300:], // the last character has unused bits
		"a signature gone": parts[0] + "." + parts[1] + ".",
	}
}

// swapAB changes a signature: of 300 characters some are A or B.
func swapAB(c rune) rune {
	switch c {
	case 'A':
		return 'B'
	case 'B':
		return 'A'
	}
	return c
}

// TestEveryOperationNeedsARole tries all operations of the tables with web tokens.
func TestEveryOperationNeedsARole(t *testing.T) {
	inBothNamespaces(t, Config{Settings: config.Settings{Auth: config.AuthEntra}, claims: rolesOf("sbemulatorns")}, func(t *testing.T, p *place) {
		if p.other == nil || p.ns != p.Broker().Default() {
			return // its identities have their roles in the other one
		}
		for _, b := range boxes {
			b.stock(t, p)
		}
		stockSession(t, p)
		good := map[string]sas.Claims{webToken(t, p.Server, manager, nil): sas.Manage, webToken(t, p.Server, sender, nil): sas.Send,
			webToken(t, p.Server, listener, nil): sas.Listen}
		worthless := worthlessWeb(t, p)
		try := func(name string, need sas.Claims, do func(token string) error) {
			t.Helper()
			before := stateOf(t, p)
			for bad, token := range worthless {
				if !strings.HasPrefix(name, "plain") && bad != "no role" && bad != "alg none" {
					continue // the rest is checked alike over each transport, and takes long to try
				}
				if bad == "roles elsewhere" && strings.HasSuffix(name, "/namespaces") {
					continue // it lists the other namespace
				}
				if err := do(token); !errors.Is(err, errRefused) {
					t.Errorf("%s with %s: %v, want it refused", name, bad, err)
				}
			}
			if after := stateOf(t, p); after != before {
				t.Errorf("%s: refused, but something happened:\n%s\nbefore:\n%s", name, after, before)
			}
			for token, claims := range good {
				if err := do(token); claims.Allows(need) != (err == nil) || err != nil && !errors.Is(err, errRefused) {
					t.Errorf("%s with %s: %v", name, claims, err)
				}
			}
		}
		for way, at := range p.transports() {
			for _, o := range amqpOperations {
				try(way+": "+o.name, o.need, func(token string) error {
					ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
					defer cancel()
					return tryAMQP(ctx, t, at.place, o.path, constant(token), o.do)
				})
			}
			if at.amqpOnly {
				continue
			}
			client := newWebClient(t, at)
			for _, o := range httpOperations {
				try(way+": "+o.method+" "+o.path, o.need, func(token string) error {
					_, err := client.try(o.method, o.path, o.body, "Bearer "+token)
					return err
				})
			}
		}
		// The developer may do everything, in every namespace.
		for _, at := range []*place{p, p.other} {
			if err := tryAMQP(t.Context(), t, at, "q", constant(webToken(t, p.Server, entra.Developer, nil)), attachSender); err != nil {
				t.Errorf("the developer in %s: %v", at.ns.Name(), err)
			}
		}
		// A role in one namespace opens nothing in the other, which has entities of the same names.
		if err := tryAMQP(t.Context(), t, p.other, "q", constant(webToken(t, p.Server, manager, nil)), attachSender); !errors.Is(err, errRefused) {
			t.Errorf("a role in the other namespace: %v", err)
		}
		// A token for the host of one is none for the other.
		for at, refused := range map[*place]bool{p: false, p.other: true} {
			token := webToken(t, p.Server, entra.Developer, func(x *entra.Token) { x.Audience = []string{"https://" + p.hostByName()} })
			if err := tryAMQP(t.Context(), t, at, "q", constant(token), attachSender); errors.Is(err, errRefused) != refused {
				t.Errorf("a token for one host, in %s: %v", at.ns.Name(), err)
			}
		}
	})
}

// entraPlace starts a server that checks web tokens too.
func entraPlace(t *testing.T, claims func(*emulator.Namespace, string, []string) sas.Claims) *place {
	t.Helper()
	return accessServerWith(t, Config{Settings: config.Settings{Auth: config.AuthEntra}, claims: claims})
}

// cbsClient is a connection that puts web tokens.
type cbsClient struct {
	*goamqp.Session
	at       *place
	sender   *goamqp.Sender
	receiver *goamqp.Receiver
}

// newCBSClient opens a connection.
func newCBSClient(t *testing.T, p *place) *cbsClient {
	t.Helper()
	nc, err := p.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := goamqp.NewConn(t.Context(), nc, &goamqp.ConnOptions{HostName: p.host})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	c := &cbsClient{at: p}
	if c.Session, err = conn.NewSession(t.Context(), nil); err == nil {
		c.sender, err = c.NewSender(t.Context(), "$cbs", nil)
	}
	if err == nil {
		c.receiver, err = c.NewReceiver(t.Context(), "$cbs", &goamqp.ReceiverOptions{TargetAddress: "reply"})
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// put puts a token, and returns the status and its description.
func (c *cbsClient) put(t *testing.T, path, token string) (status any, text string) {
	t.Helper()
	replyTo := "reply"
	m := &goamqp.Message{Properties: &goamqp.MessageProperties{MessageID: "1", ReplyTo: &replyTo}, Value: token,
		ApplicationProperties: map[string]any{"operation": "put-token", "type": "jwt", "name": "sb://" + c.at.host + "/" + path}}
	err := c.sender.Send(t.Context(), m, nil)
	if err == nil {
		m, err = c.receiver.Receive(t.Context(), nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	text, _ = m.ApplicationProperties["status-description"].(string)
	return m.ApplicationProperties["status-code"], text
}

// TestRefusalsOfWebTokens: each refusal in the service's words, at $cbs and over HTTP.
func TestRefusalsOfWebTokens(t *testing.T) {
	p := entraPlace(t, rolesOf("sbemulatorns"))
	bad := worthlessWeb(t, p)
	bad["for another host"] = bad["for a vault"]
	const (
		signature = "InvalidSignature: The token has an invalid signature."
		audience  = "InvalidAudience: The authorization header contains a token with a wrong audience."
	)
	for name, want := range map[string]string{
		"alg none": signature, "an unknown key": signature, "a changed byte": signature, "a signature gone": signature, "for a vault": audience,
		"of the cloud": "InvalidIssuer: Token issuer is invalid. Minibus takes the tokens of its own issuer (minibus env --identity) and of --entra-issuer." +
			" TrackingId:*, SystemTracker:NoSystemTracker, Timestamp:*",
		"expired":         "ExpiredToken: The token is expired. Expiration time: '*'.",
		"a refresh token": "MalformedToken: The token is of another kind.",
	} {
		matches := func(got string) bool {
			return regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(want), `\*`, ".+") + "$").MatchString(got)
		}
		if status, text := newCBSClient(t, p).put(t, "q", bad[name]); status != int32(401) || !matches(text) {
			t.Errorf("%s: put-token %v %q", name, status, text)
		}
		fix := "-> Let the client ask Minibus for a new token"
		switch {
		case want == audience:
			fix = "-> Let the client ask for a token for https://servicebus.azure.net/.default."
		case strings.HasPrefix(want, "InvalidIssuer"):
			fix = "-> Run the client with the variables of minibus env --identity"
		}
		if d := p.Why(p.Namespace(), entity(t, p, "q"), emulator.Main, ""); !strings.Contains(d.String(), fix) {
			t.Errorf("%s: want %q in %s", name, fix, &d)
		}
		status, text := askWith(t, p, "GET", "q", "Bearer "+bad[name])
		want, _, _ = strings.Cut(want, " TrackingId")
		if want = strings.Split(want, "*")[0]; status != 401 || !strings.Contains(text, strings.ReplaceAll(want, "'", "&#39;")) && !strings.Contains(text, want) {
			t.Errorf("%s: HTTP %d %q, want %q", name, status, text, want)
		}
	}
	for authorization, want := range map[string]string{
		"":                 "MissingToken: The authorization header was not found.",
		bad["no role"]:     "Manage,EntityRead claims required for this operation.", // as Go's client sends it
		"x":                "MalformedToken: Invalid authorization header: The request is missing WRAP authorization credentials.",
		"Basic dXNlcjpwdw": "MalformedToken: Invalid authorization header: The request is missing WRAP authorization credentials.",
		"Bearer x":         "MalformedToken: The token is not a web token (JWT) that can be read.",
	} {
		if status, text := askWith(t, p, "GET", "q", authorization); status != 401 || !strings.Contains(text, want) {
			t.Errorf("%q: %d %q", authorization, status, text)
		}
	}
	if status, text := askWith(t, p, "GET", "$Resources/queues", "Bearer "+bad["expired"]); status != 401 || !strings.Contains(text, "claim is empty or token is invalid.") {
		t.Errorf("%d %q", status, text)
	}
	if status, text := askWith(t, p, "PUT", "new", "Bearer "+bad["no role"]); status != 401 || !strings.Contains(text, "Authorization failed for specified action: Manage,EntityWrite.") {
		t.Errorf("%d %q", status, text)
	}
	if status, text := askWith(t, p, "GET", "q", "Bearer "+webToken(t, p.Server, manager, nil)); status != 200 {
		t.Errorf("a good token: %d %s", status, text)
	}
}

func askWith(t *testing.T, p *place, method, path, authorization string) (int, string) {
	t.Helper()
	client := newWebClient(t, transport{place: p})
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+p.host+"/"+path+"?api-version=2021-05", nil)
	if err != nil {
		t.Fatal(err)
	}
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	w, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Body.Close() }()
	text, _ := io.ReadAll(w.Body)
	return w.StatusCode, string(text)
}

// A token whose holder has no role is accepted, and the attach is refused (ERR-1). Nobody learns so what exists.
func TestERR1_NoRoleIsToldAtTheAttach(t *testing.T) {
	p := entraPlace(t, rolesOf("sbemulatorns"))
	for _, path := range []string{"q", "missing", "t/Subscriptions/sub", "t/Subscriptions/missing"} {
		session := newCBSClient(t, p)
		if status, text := session.put(t, path, webToken(t, p.Server, roleless, nil)); status != int32(202) {
			t.Errorf("%s: put-token: %v %s", path, status, text)
		}
		var refused *goamqp.Error
		_, err := session.NewReceiver(t.Context(), path, nil)
		want := fmt.Sprintf("Unauthorized access. 'Listen' claim(s) are required to perform this operation. Resource: 'sb://localhost/%s'. TrackingId:", strings.ToLower(path))
		if !errors.As(err, &refused) || refused.Condition != "amqp:unauthorized-access" || !strings.HasPrefix(refused.Description, want) {
			t.Errorf("%s: %v", path, err)
		}
		status404, text := askWith(t, p, "GET", path, "Bearer "+webToken(t, p.Server, roleless, nil))
		if status404 != 401 || strings.Contains(text, "could not be found") {
			t.Errorf("%s: %d %s", path, status404, text)
		}
	}
	if list := p.Refusals(p.Namespace()); len(list) != 4 || list[0].Identity != roleless {
		t.Errorf("the refusals are %+v", list)
	}
	if status, text := newCBSClient(t, p).put(t, "missing", webToken(t, p.Server, listener, nil)); status != int32(404) {
		t.Errorf("with a role: %v %s", status, text)
	}
}

// Who may not receive learns which rights rules need, in the service's words.
func TestERR1_RulesNameTheirClaims(t *testing.T) {
	p := entraPlace(t, rolesOf("sbemulatorns"))
	session := newCBSClient(t, p)
	session.put(t, "t/Subscriptions/sub", webToken(t, p.Server, sender, nil))
	reply, err := call(t.Context(), session.Session, "t/Subscriptions/sub/$management", map[string]any{"operation": "com.microsoft:enumerate-rules"}, map[string]any{})
	if err != nil {
		t.Fatal(err)
	}
	text, _ := reply.ApplicationProperties["statusDescription"].(string)
	if !strings.HasPrefix(text, "Unauthorized access. 'Listen,Manage,SubscriptionRuleRead' claim(s) are required to perform this operation.") {
		t.Error(reply.ApplicationProperties)
	}
}

// A role that was taken away ends a link when its client renews the token; one that was given opens it at the next try.
func TestERR3_RolesCountAtRenewal(t *testing.T) {
	var may atomic.Bool
	p := entraPlace(t, func(_ *emulator.Namespace, path string, _ []string) sas.Claims {
		if path == "t/Subscriptions/sub" || may.Load() && path == "q" {
			return sas.Listen
		}
		return 0
	})
	token := func() string { return webToken(t, p.Server, listener, nil) }
	session := newCBSClient(t, p)
	session.put(t, "q", token())
	if _, err := session.NewReceiver(t.Context(), "q", nil); err == nil {
		t.Error("no role yet")
	}
	may.Store(true)
	r, err := session.NewReceiver(t.Context(), "q", nil)
	if err != nil {
		t.Fatal(err)
	}
	session.put(t, "t/Subscriptions/sub", token())
	other, err := session.NewReceiver(t.Context(), "t/Subscriptions/sub", nil)
	if err != nil {
		t.Fatal(err)
	}
	may.Store(false)
	if status, _ := session.put(t, "t/Subscriptions/sub", token()); status != int32(202) {
		t.Error(status)
	}
	send(t, p, "q", "")
	if _, err := r.Receive(t.Context(), nil); err != nil { // the renewal of another path leaves it
		t.Errorf("ended too early: %v", err)
	}
	if status, _ := session.put(t, "q", token()); status != int32(202) {
		t.Error(status)
	}
	_, err = r.Receive(t.Context(), nil)
	var gone *goamqp.LinkError
	if !errors.As(err, &gone) || gone.RemoteErr == nil ||
		!strings.Contains(gone.RemoteErr.Description, "Code: RenewToken. Details: Unauthorized access. 'Listen' claim(s) are required") {
		t.Errorf("%v", err)
	}
	if err := other.Close(t.Context()); err != nil {
		t.Errorf("the other link: %v", err)
	}
}

// The right to manage the target of a forward counts where the target is.
func TestForwardsNeedARoleOnTheTarget(t *testing.T) {
	p := entraPlace(t, func(_ *emulator.Namespace, path string, principals []string) sas.Claims {
		if path == "q" || path == "other" && principals[0] == manager {
			return sas.Manage
		}
		return 0
	})
	client := newWebClient(t, transport{place: p})
	body := description("QueueDescription", "<ForwardTo>other</ForwardTo>")
	for oid, want := range map[string]error{sender: errRefused, manager: nil} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://"+p.host+"/q?api-version=2021-05", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("If-Match", "*")
		r.Header.Set("Authorization", "Bearer "+webToken(t, p.Server, oid, nil))
		w, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(w.Body)
		_ = w.Body.Close()
		if (w.StatusCode == http.StatusUnauthorized) != (want != nil) || want == nil && w.StatusCode != http.StatusOK {
			t.Errorf("%s: %d %s", oid, w.StatusCode, text)
		}
	}
}

// Keys count as with --auth sas.
func TestKeysCountBesideIdentities(t *testing.T) {
	p := entraPlace(t, nil)
	if err := tryAMQP(t.Context(), t, p, "q", p.good("send"), attachSender); err != nil {
		t.Error(err)
	}
	if err := tryAMQP(t.Context(), t, p, "q", p.good("listen"), attachSender); !errors.Is(err, errRefused) {
		t.Error(err)
	}
}

// TestTheIssuer asks a server for tokens in each mode, and uses them.
func TestTheIssuer(t *testing.T) {
	const secret = "a-secret-of-this-test"
	get := func(t *testing.T, a *Server, path, lines string) (int, map[string]string) {
		t.Helper()
		status, text := askRaw(t, a, path, "Host: localhost\r\n"+lines, "")
		answer := make(map[string]string)
		_ = json.Unmarshal([]byte(text), &answer)
		return status, answer
	}
	const appService = "GET /minibus/identity/token?api-version=2019-08-01&resource=https://servicebus.azure.net/"
	for _, auth := range []config.Auth{config.AuthAny, config.AuthSAS, config.AuthEntra} {
		a := pageServer(t, config.Settings{Auth: auth, RootKey: "own", IdentitySecret: secret})
		open := auth == config.AuthAny
		for lines, want := range map[string]int{"": 401, "X-IDENTITY-HEADER: " + secret + "\r\n": 200, "X-IDENTITY-HEADER: wrong\r\n": 401} {
			if open && lines != "" {
				want = 200
			}
			status, answer := get(t, a, appService, lines)
			if status != want || want == 200 && answer["token_type"] != "Bearer" {
				t.Errorf("%s, %q: %d %v", auth, lines, status, answer)
			}
		}
		status, answer := get(t, a, appService+"&client_id="+roleless, "X-IDENTITY-HEADER: "+secret+"\r\n")
		if strict := auth == config.AuthEntra; strict != (status == 400) || strict && answer["error_description"] != "Identity not found" {
			t.Errorf("%s: an identity that nobody made: %d %v", auth, status, answer)
		}
		status, answer = get(t, a, "GET /metadata/identity/oauth2/token?api-version=2018-02-01&resource=r", "Metadata: true\r\n")
		if open != (status == 200) {
			t.Errorf("%s: the metadata service: %d %v", auth, status, answer)
		}
	}
}

// The key is kept beside the database, so a token counts after a restart too.
func TestTokensSurviveARestart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bus.db")
	var token string
	for range 2 {
		a, err := start(t, Config{Settings: config.Settings{Data: file, Auth: config.AuthEntra}, NoNetwork: true, Topology: config.DefaultTopology()})
		if err != nil {
			t.Fatal(err)
		}
		if token == "" {
			token = webToken(t, a, entra.Developer, nil)
		}
		status, text := askRaw(t, a, "GET /queue.1?api-version=2021-05", "Host: localhost\r\nAuthorization: Bearer "+token+"\r\n", "")
		if status != 200 {
			t.Errorf("%d %s", status, text)
		}
		if err := a.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWhoMayAskForTokens: what a browser, a proxy, and a client under a strange name get.
func TestWhoMayAskForTokens(t *testing.T) {
	a := pageServer(t, config.Settings{})
	const browser = "User-Agent: Mozilla/5.0 Firefox/140.0\r\nAccept-Language: en-US\r\n"
	const managed, machine = "GET /minibus/identity/token?resource=r&api-version=2019-08-01", "GET /metadata/identity/oauth2/token?resource=r&api-version=2018-02-01"
	for _, tt := range []struct {
		request, lines string
		want           int
	}{
		{managed, "Host: localhost\r\nX-IDENTITY-HEADER: x\r\n", 200},
		{managed, "Host: minibus:5300\r\nX-IDENTITY-HEADER: x\r\n", 200},
		{managed, "Host: localhost\r\nsecret: x\r\n", 200},
		{managed, "Host: localhost\r\n", 401},
		{managed, "Host: localhost\r\nX-IDENTITY-HEADER: x\r\n" + browser, 403},
		{managed, "Host: localhost\r\nX-IDENTITY-HEADER: x\r\nSec-Fetch-Site: none\r\n", 403},
		{managed, "Host: localhost\r\nX-IDENTITY-HEADER: x\r\nSec-Fetch-Site: same-origin\r\n", 403},
		{managed, "Host: localhost\r\nX-IDENTITY-HEADER: x\r\nOrigin: http://localhost\r\n", 403},
		{managed, "Host: localhost\r\nX-IDENTITY-HEADER: x\r\nOrigin: https://evil.test\r\n", 403},
		{managed, "Host: evil.test\r\nX-IDENTITY-HEADER: x\r\n", 403},
		{managed, "Host: localhost\r\nX-IDENTITY-HEADER: x\r\nX-Forwarded-For: 10.0.0.1\r\n", 403},
		{managed, "Host: localhost\r\nX-IDENTITY-HEADER: x\r\nForwarded: for=10.0.0.1\r\n", 403},
		{managed, "Host: localhost\r\nX-IDENTITY-HEADER: x\r\nCF-Connecting-IP: 10.0.0.1\r\n", 403},
		{managed, "Host: localhost\r\nX-IDENTITY-HEADER: x\r\nX-Forwarded-Proto: https\r\n", 403},
		{machine, "Host: localhost\r\nMetadata: true\r\n", 200},
		{machine, "Host: localhost\r\nMetadata: True\r\nAccept-Language: *\r\nSec-Fetch-Mode: cors\r\nUser-Agent: node\r\n", 200}, // fetch of Node.js
		{machine, "Host: localhost\r\n", 400},
		{machine, "Host: localhost\r\nMetadata: false\r\n", 400},
		{machine, "Host: 169.254.169.254\r\nMetadata: true\r\nX-Forwarded-For: 10.0.0.1\r\n", 403},
		{machine, "Host: evil.test\r\nMetadata: true\r\n", 403},
		{"GET /common/v2.0/.well-known/openid-configuration", "Host: localhost\r\n", 200},
		{"GET /common/v2.0/.well-known/openid-configuration", "Host: evil.test\r\n", 403},
		{"GET /common/v2.0/.well-known/openid-configuration", "Host: localhost\r\nSec-Fetch-Site: same-origin\r\n", 403},
		{"POST /common/oauth2/v2.0/token", "Host: localhost\r\nOrigin: http://localhost\r\n", 403},
		{"POST /common/oauth2/v2.0/token", "Host: localhost\r\n", 400},
		{"GET /minibus/identity/device", "Host: localhost\r\nSec-Fetch-Site: none\r\n" + browser, 200},
		{"GET /minibus/identity/device", "Host: evil.test\r\n" + browser, 403},
		{"POST /minibus/identity/device", "Host: localhost\r\nOrigin: https://evil.test\r\n" + browser, 403},
		// Entities of these names are the administration's.
		{"GET /minibus/identity/token?api-version=2021-05", "Host: localhost\r\n", 200},
		{"GET /adfs/oauth2/token?api-version=2021-05", "Host: localhost\r\n", 200},
	} {
		if status, text := askRaw(t, a, tt.request, tt.lines, ""); status != tt.want {
			t.Errorf("%s %q: %d, want %d: %.200s", tt.request, tt.lines, status, tt.want, text)
		}
	}
}

// --entra-issuer asks the issuer at the start, and says why if that fails.
func TestAnotherIssuer(t *testing.T) {
	key, err := entra.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	idp := httptest.NewServer(mux)
	defer idp.Close()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]string{"issuer": idp.URL, "jwks_uri": idp.URL + "/keys"})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": []entra.JWK{key.Public()}})
	})
	p := accessServerWith(t, Config{Settings: config.Settings{Auth: config.AuthEntra, EntraIssuer: idp.URL}, claims: rolesOf("sbemulatorns")})
	of := func(x *entra.Token) { x.Issuer = idp.URL }
	for oid, want := range map[string]int{manager: 200, roleless: 401, entra.Developer: 401} {
		if status, text := askWith(t, p, "GET", "q", "Bearer "+tokenBy(t, key, oid, time.Now(), entra.KindAccess, of)); status != want {
			t.Errorf("%s: %d %s", oid, status, text)
		}
	}
	_, err = start(t, Config{Settings: config.Settings{Ephemeral: true, Auth: config.AuthEntra, EntraIssuer: idp.URL + "/none"}, NoNetwork: true})
	if err == nil || !strings.HasPrefix(err.Error(), "use --entra-issuer: ask the issuer for its configuration: ") {
		t.Error(err)
	}
}

// manage sends a request to Resource Manager.
func (p *place) manage(t *testing.T, method, id, body, token string) (int, string) {
	t.Helper()
	client := newWebClient(t, transport{place: p})
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+p.host+id+"?api-version=2024-01-01", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	w, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Body.Close() }()
	text, _ := io.ReadAll(w.Body)
	return w.StatusCode, string(text)
}

// Tokens and resources are of one tenant.
func TestTheTenantIsResourceManagers(t *testing.T) {
	if entra.Tenant != arm.Tenant {
		t.Error(entra.Tenant, arm.Tenant)
	}
}

func forManager(x *entra.Token) { x.Audience = []string{"https://management.azure.com/"} }

// TestResourceManagerNeedsAToken: which tokens open Resource Manager in each mode.
func TestResourceManagerNeedsAToken(t *testing.T) {
	for _, auth := range []config.Auth{config.AuthAny, config.AuthSAS, config.AuthEntra} {
		p := accessServerWith(t, Config{Settings: config.Settings{Auth: auth}, claims: rolesOf("sbemulatorns")})
		tokens := map[string]bool{
			webToken(t, p.Server, entra.Developer, forManager):                                                                     true,
			webToken(t, p.Server, roleless, forManager):                                                                            true,
			webToken(t, p.Server, roleless, func(x *entra.Token) { x.Audience = []string{"https://localhost/"} }):                  true,
			webToken(t, p.Server, roleless, func(x *entra.Token) { x.Audience = []string{"https://management.core.windows.net"} }): true,
			webToken(t, p.Server, entra.Developer, nil):                                                                            false, // of Service Bus
			p.good("manage")("/subscriptions"):                                                                                     false,
		}
		for name, token := range worthlessWeb(t, p) {
			if name != "no role" && name != "roles elsewhere" {
				tokens[token] = false
			}
		}
		tokens[""] = false
		for token, want := range tokens {
			status, text := p.manage(t, "GET", "/subscriptions", "", token)
			if want = want || auth == config.AuthAny && token != ""; want != (status == 200) || !want && (status != 401 || !strings.Contains(text, "AuthenticationFailed")) {
				t.Errorf("%s: %.300s: %d %s", auth, token, status, text)
			}
		}
	}
}

// The host of a request, which the client chooses, does not turn a token for something else into one for Resource
// Manager.
func TestTheHostMakesNoTokenForResourceManager(t *testing.T) {
	p := entraPlace(t, rolesOf("sbemulatorns"))
	for _, tt := range []struct {
		host, audience string
		want           int
	}{
		{"servicebus.azure.net", "https://servicebus.azure.net", 401},
		{"vault.azure.net", "https://vault.azure.net/", 401},
		{"shop.servicebus.windows.net", "https://shop.servicebus.windows.net", 401},
		{"shop.servicebus.windows.net:443", "https://shop.servicebus.windows.net:443", 401},
		{"vault.azure.net", "https://management.azure.com/", 200},
		{"localhost:5300", "http://localhost:5300", 200},
		{"localhost", "https://vault.azure.net", 401},
		{"vault.azure.net", "/", 401},
	} {
		token := webToken(t, p.Server, roleless, func(x *entra.Token) { x.Audience = []string{tt.audience} })
		status, text := askRaw(t, p.Server, "GET /subscriptions?api-version=2022-12-01", "Host: "+tt.host+"\r\nAuthorization: Bearer "+token+"\r\n", "")
		if status != tt.want {
			t.Errorf("%s at %s: %d, want %d: %s", tt.audience, tt.host, status, tt.want, text)
		}
	}
}

// A namespace with disableLocalAuth takes web tokens only.
func TestKeysThatAreOff(t *testing.T) {
	p := entraPlace(t, rolesOf("sbemulatorns"))
	id := "/subscriptions/" + arm.DefaultSubscription + "/resourceGroups/" + arm.DefaultGroup + "/providers/Microsoft.ServiceBus/namespaces/sbemulatorns"
	session := newCBSClient(t, p)
	session.put(t, "q", p.good("listen")("q"))
	for _, off := range []bool{true, false} {
		body := fmt.Sprintf(`{"location": "eastus", "properties": {"disableLocalAuth": %v}}`, off)
		if status, text := p.manage(t, "PATCH", id, body, webToken(t, p.Server, entra.Developer, forManager)); status != 200 || !strings.Contains(text, fmt.Sprintf(`"disableLocalAuth":%v`, off)) {
			t.Fatalf("%d %s", status, text)
		}
		const want = "LocalAuthDisabled: Authorization failed because SAS authentication has been disabled for the namespace."
		status, text := newCBSClient(t, p).put(t, "q", p.good("manage")("q"))
		if off != (status == int32(401)) || off && !strings.HasPrefix(text, want+" TrackingId:") {
			t.Errorf("%v: put-token: %v %s", off, status, text)
		}
		const fix = "-> Let the client sign in with an identity: the namespace takes no keys."
		if d := p.Why(p.Namespace(), entity(t, p, "q"), emulator.Main, ""); !strings.Contains(d.String(), fix) {
			t.Errorf("%v: want %q in %s", off, fix, &d)
		}
		code, text := askWith(t, p, "GET", "q", p.good("manage")("q"))
		if off != (code == 401) || off && !strings.Contains(text, want) {
			t.Errorf("%v: HTTP: %d %s", off, code, text)
		}
		if _, err := session.NewReceiver(t.Context(), "q", nil); off != (err != nil) { // the token of before
			t.Errorf("%v: attach: %v", off, err)
		}
		if code, text := askWith(t, p, "GET", "q", "Bearer "+webToken(t, p.Server, manager, nil)); code != 200 {
			t.Errorf("%v: an identity: %d %s", off, code, text)
		}
	}
}

// TestTheDeveloperIsShownByName, and any other identity by its object id.
func TestTheDeveloperIsShownByName(t *testing.T) {
	p := entraPlace(t, rolesOf("sbemulatorns"))
	session := newCBSClient(t, p)
	for object, want := range map[string]string{entra.Developer: "developer", manager: manager} {
		session.put(t, "q", webToken(t, p.Server, object, nil))
		list := p.amqp.Inspect(p.Namespace(), nil)
		if len(list) != 1 || strings.Join(list[0].Policies, " ") != want {
			t.Errorf("want %s signed in: %+v", want, list)
		}
	}
}

// control sends a request to the control API.
func (p *place) control(t *testing.T, method, path, token string) (int, string) {
	t.Helper()
	lines := "Host: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nAuthorization: " + token + "\r\n"
	return askRaw(t, p.Server, method+" /$minibus/v1/"+path, lines, "")
}

// controlOperations are the methods and paths of the control API on one namespace, with a name for each part.
func controlOperations(t *testing.T, namespace string) (list [][2]string) {
	t.Helper()
	var document struct {
		Paths map[string]map[string]any `json:"paths"`
	}
	if err := json.Unmarshal(control.Document(), &document); err != nil {
		t.Fatal(err)
	}
	parts := regexp.MustCompile(`{\w+}`)
	for path, methods := range document.Paths {
		before, rest, ok := strings.Cut(strings.TrimPrefix(path, control.Prefix), "{namespace}")
		for method := range methods {
			if ok {
				list = append(list, [2]string{strings.ToUpper(method), before + namespace + parts.ReplaceAllString(rest, "q")})
			}
		}
	}
	if len(list) < 50 {
		t.Fatalf("%d operations", len(list))
	}
	return list
}

// TestTheControlAPIOpensNamespaces: the control API opens to an identity the namespaces that it may manage, and to a
// key those that take keys.
func TestTheControlAPIOpensNamespaces(t *testing.T) {
	p, second := &place{host: "localhost", ending: "-key"}, &place{host: "localhost", ending: "-its-key"}
	p.serve(t, Config{Settings: config.Settings{Auth: config.AuthEntra}, claims: rolesOf("sbemulatorns"), NoNetwork: true},
		p.rules("sbemulatorns")+","+second.rules("second"))
	token := func(who string) string { return "Bearer " + webToken(t, p.Server, who, nil) }
	try := func(who, authorization, method, path string, want int) string {
		t.Helper()
		status, text := p.control(t, method, path, authorization)
		if status != want {
			t.Errorf("%s: %s %s: %d, want %d: %.300s", who, method, path, status, want, text)
		}
		if status == 401 && strings.Contains(text, "SharedAccessKey=") {
			t.Errorf("%s: %s %s: %s", who, method, path, text)
		}
		return text
	}
	refused := func(who, authorization, namespace string) {
		t.Helper()
		for _, o := range controlOperations(t, namespace) {
			try(who, authorization, o[0], o[1], 401)
		}
	}
	lists := func(who, authorization string, want ...string) {
		t.Helper()
		text := try(who, authorization, "GET", "namespaces", 200)
		for _, name := range []string{"sbemulatorns", "second"} {
			if slices.Contains(want, name) != strings.Contains(text, fmt.Sprintf(`"name":%q`, name)) {
				t.Errorf("%s: %s", who, text)
			}
		}
		if strings.Contains(text, "-its-key") != slices.Contains(want, "second") {
			t.Errorf("%s: keys: %s", who, text)
		}
	}
	for _, at := range []string{"second", "%73econd", "SECOND"} {
		refused("manager", token(manager), at)
	}
	refused("roleless", token(roleless), "missing")
	refused("elsewho", token(elsewho), "$default")
	refused("roleless", token(roleless), "second")
	try("roleless", token(roleless), "GET", "namespaces", 401)
	lists("manager", token(manager), "sbemulatorns")
	lists("elsewho", token(elsewho), "second")
	lists("developer", token(entra.Developer), "sbemulatorns", "second")
	try("manager", token(manager), "GET", "namespaces/$this/entities", 200)
	try("elsewho", token(elsewho), "GET", "namespaces/second/entities", 200)
	try("elsewho", token(elsewho), "POST", "namespaces/second/reset", 204)
	try("elsewho", token(elsewho), "POST", "namespaces", 401)
	try("elsewho", token(elsewho), "DELETE", "namespaces/second", 401) // the namespaces are the process's
	if text := try("manager", token(manager), "POST", "namespaces", 201); strings.Contains(text, "SharedAccessKey=") {
		t.Errorf("keys of a new namespace: %s", text) // other roles than rolesOf's may give them
	}
	if text := try("developer", token(entra.Developer), "POST", "namespaces", 201); !strings.Contains(text, "SharedAccessKey=") {
		t.Errorf("no keys of a new namespace: %s", text)
	}

	key := p.good("manage")("")
	lists("key", key, "sbemulatorns", "second")
	try("key", key, "GET", "namespaces/second/entities", 200)
	id := "/subscriptions/" + arm.DefaultSubscription + "/resourceGroups/" + arm.DefaultGroup + "/providers/Microsoft.ServiceBus/namespaces/second"
	p.ns, p.dial = p.Server.Namespace(), p.Server.Dial
	if status, text := p.manage(t, "PATCH", id, `{"properties": {"disableLocalAuth": true}}`, webToken(t, p.Server, entra.Developer, forManager)); status != 200 {
		t.Fatalf("%d %s", status, text)
	}
	refused("key", key, "second")
	lists("key", key, "sbemulatorns")
	try("key", key, "GET", "namespaces/$default/entities", 200)
	try("key", key, "GET", "namespaces/missing", 404)
	lists("developer", token(entra.Developer), "sbemulatorns", "second")
}

// TestRolesOpenTheirScope makes identities and role assignments through Resource Manager, and tries what they open.
func TestRolesOpenTheirScope(t *testing.T) {
	const (
		owner, sends, receives = "090c5cfd-751d-490a-894a-3ce6f1109419", "69a216fc-b8fb-44d8-bc22-1f3c2cd27a39", "4f6d3b9b-027b-4f4c-9142-0e5a2a2247e0"
		contributor            = "b24988ac-6180-42a0-ab88-20f7382dd24c"
	)
	p := entraPlace(t, nil)
	developer := webToken(t, p.Server, entra.Developer, forManager)
	put := func(id, body string) string {
		t.Helper()
		status, text := p.manage(t, "PUT", id, body, developer)
		if status != 200 && status != 201 {
			t.Fatalf("%s: %d %s", id, status, text)
		}
		return text
	}
	group := "/subscriptions/" + arm.DefaultSubscription + "/resourceGroups/" + arm.DefaultGroup
	var made struct {
		Properties struct{ PrincipalID, ClientID string }
	}
	if err := json.Unmarshal([]byte(put(group+"/providers/Microsoft.ManagedIdentity/userAssignedIdentities/shop", `{"location": "eastus"}`)), &made); err != nil {
		t.Fatal(err)
	}
	namespace := group + "/providers/Microsoft.ServiceBus/namespaces/sbemulatorns"
	token := func() string {
		t.Helper()
		status, text := askRaw(t, p.Server, "GET /minibus/identity/token?api-version=2019-08-01&resource=https://servicebus.azure.net/&client_id="+made.Properties.ClientID,
			"Host: localhost\r\nX-IDENTITY-HEADER: "+p.identitySecret(t)+"\r\n", "")
		var m struct {
			Access string `json:"access_token"`
		}
		if err := json.Unmarshal([]byte(text), &m); err != nil || status != 200 {
			t.Fatalf("%d %s", status, text)
		}
		return m.Access
	}()
	for i, tt := range []struct {
		scope, role string
		opens       string // what it sends to, and what it receives from
	}{
		{namespace, owner, "send q, send s, send shut, send t, receive q, receive other, receive t/Subscriptions/sub"},
		{"/subscriptions/" + arm.DefaultSubscription, sends, "send q, send s, send shut, send t"},
		{group, receives, "receive q, receive other, receive t/Subscriptions/sub"},
		{namespace + "/queues/q", sends, "send q"},
		{namespace + "/queues/Q", receives, "receive q"},
		{namespace + "/queues/s", sends, "send s"}, // and not shut
		{namespace + "/queues/other", receives, "receive other"},
		{namespace + "/topics/t", sends, "send t"},
		{namespace + "/topics/t", receives, "receive t/Subscriptions/sub"},
		{namespace + "/topics/t/subscriptions/sub", receives, "receive t/Subscriptions/sub"},
		{namespace + "/topics/t/subscriptions/sub", sends, ""},
		{namespace, contributor, ""},
	} {
		assignment := fmt.Sprintf("%s/providers/Microsoft.Authorization/roleAssignments/aaaaaaaa-0000-4000-8000-%012d", tt.scope, i)
		put(assignment, fmt.Sprintf(`{"properties": {"roleDefinitionId": "/subscriptions/%s/providers/Microsoft.Authorization/roleDefinitions/%s", "principalId": "%s"}}`,
			arm.DefaultSubscription, tt.role, made.Properties.PrincipalID))
		var opens []string
		for _, try := range []struct {
			what, path string
			do         func(context.Context, *goamqp.Session, string) error
		}{
			{"send", "q", justAttachSender}, {"send", "s", justAttachSender}, {"send", "shut", justAttachSender}, {"send", "t", justAttachSender},
			{"receive", "q", justAttach}, {"receive", "other", justAttach}, {"receive", "t/Subscriptions/sub", justAttach},
		} {
			err := tryAMQP(t.Context(), t, p, try.path, constant(token), try.do)
			switch {
			case err == nil:
				opens = append(opens, try.what+" "+try.path)
			case !errors.Is(err, errRefused):
				t.Errorf("%s: %s %s: %v", tt.scope, try.what, try.path, err)
			}
		}
		if got := strings.Join(opens, ", "); got != tt.opens {
			t.Errorf("%s at %s opens %q, want %q", tt.role, tt.scope, got, tt.opens)
		}
		if status, text := p.manage(t, "DELETE", assignment, "", developer); status != 200 {
			t.Errorf("delete: %d %s", status, text)
		}
	}
	if status, text := askWith(t, p, "GET", "q", "Bearer "+token); status != 401 {
		t.Errorf("without a role: %d %s", status, text)
	}
}

func justAttach(ctx context.Context, s *goamqp.Session, path string) error {
	_, err := s.NewReceiver(ctx, path, &goamqp.ReceiverOptions{Credit: -1})
	return attached(err)
}

func justAttachSender(ctx context.Context, s *goamqp.Session, path string) error {
	_, err := s.NewSender(ctx, path, nil)
	return attached(err)
}

func (p *place) identitySecret(t *testing.T) string {
	t.Helper()
	key, err := p.identity.key()
	if err != nil {
		t.Fatal(err)
	}
	return key.Secret()
}
