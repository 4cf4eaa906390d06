package identity

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"minibus/internal/entra"
)

const (
	secret    = "the-secret"
	someone   = "11111111-2222-3333-4444-555555555555"
	principal = "99999999-2222-3333-4444-555555555555"
	bus       = "https://servicebus.azure.net/"
	base      = "http://localhost:5300"
)

var testKey = sync.OnceValues(entra.NewKey)

// testService knows one identity.
func testService(change func(*Options)) *Service {
	o := Options{Key: testKey, Verifier: entra.NewVerifier(testKey), Secret: secret,
		Identity: func(id string) (string, string, bool) {
			known := id == someone || id == principal || id == "/subscriptions/s/identities/i"
			return someone, principal, known
		}}
	if change != nil {
		change(&o)
	}
	return New(o)
}

func open(o *Options)   { o.Open = true }
func strict(o *Options) { o.Strict = true }

// ask sends a request; lines are "Name: value". A request that is not for the service fails the test.
func (s *Service) ask(t *testing.T, method, address, form string, lines ...string) (int, string) {
	t.Helper()
	r := httptest.NewRequest(method, address, strings.NewReader(form))
	if form != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Set(name, value)
	}
	if !Wants(r) {
		t.Fatalf("%s %s is not for the service", method, address)
	}
	w := httptest.NewRecorder()
	s.Serve(w, r, base)
	text, _ := io.ReadAll(w.Body)
	return w.Code, string(text)
}

// texts reads an answer whose values are all texts, as .NET does.
func texts(t *testing.T, answer string) map[string]string {
	t.Helper()
	m := make(map[string]string)
	if err := json.Unmarshal([]byte(answer), &m); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	return m
}

// says checks a token and returns what it says.
func (s *Service) says(t *testing.T, token string) *entra.Token {
	t.Helper()
	got, err := s.options.Verifier.Verify(token, time.Now())
	if err != nil {
		t.Fatalf("%v: %s", err, token)
	}
	return got
}

const shows = "X-IDENTITY-HEADER: " + secret

// Every form of a managed identity, as the SDKs send it.
func TestManagedIdentities(t *testing.T) {
	const metadata = "Metadata: true"
	for _, tt := range []struct {
		name, method, address, form string
		lines                       []string
		change                      func(*Options)
		oid, client, resource       string // of the token; empty oid: refused with the status
		status                      int
	}{
		{"App Service", "GET", "/minibus/identity/token?api-version=2019-08-01&resource=" + bus, "", []string{shows}, nil, entra.Developer, entra.DeveloperApp, bus, 0},
		{"Java's resource", "GET", "/minibus/identity/token?api-version=2019-08-01&resource=https://servicebus.azure.net", "", []string{shows}, nil, entra.Developer, entra.DeveloperApp, "https://servicebus.azure.net", 0},
		{"an identity", "GET", "/minibus/identity/token?api-version=2019-08-01&resource=r&client_id=" + someone, "", []string{shows}, strict, principal, someone, "r", 0},
		{"by its object", "GET", "/minibus/identity/token?api-version=2019-08-01&resource=r&principal_id=" + principal, "", []string{shows}, strict, principal, someone, "r", 0},
		{"by its resource", "GET", "/minibus/identity/token?api-version=2019-08-01&resource=r&mi_res_id=/subscriptions/s/identities/i", "", []string{shows}, strict, principal, someone, "r", 0},
		{"2017", "GET", "/minibus/identity/token?api-version=2017-09-01&resource=r&clientid=" + someone, "", []string{"secret: " + secret}, strict, principal, someone, "r", 0},
		{"unknown", "GET", "/minibus/identity/token?api-version=2019-08-01&resource=r&client_id=22222222-2222-3333-4444-555555555555", "", []string{shows}, strict, "", "", "", 400},
		{"unknown, not strict", "GET", "/minibus/identity/token?api-version=2019-08-01&resource=r&client_id=22222222-2222-3333-4444-555555555555", "", []string{shows}, nil,
			"22222222-2222-3333-4444-555555555555", "22222222-2222-3333-4444-555555555555", "r", 0},
		{"no resource", "GET", "/minibus/identity/token?api-version=2019-08-01", "", []string{shows}, nil, "", "", "", 400},
		{"a long resource", "GET", "/minibus/identity/token?api-version=2019-08-01&resource=" + strings.Repeat("r", 2000), "", []string{shows}, nil, "", "", "", 400},
		{"wrong header", "GET", "/minibus/identity/token?api-version=2019-08-01&resource=r", "", []string{shows + "x"}, nil, "", "", "", 401},
		{"no header", "GET", "/minibus/identity/token?api-version=2019-08-01&resource=r", "", nil, nil, "", "", "", 401},
		{"no header, all are let in", "GET", "/minibus/identity/token?api-version=2019-08-01&resource=r", "", nil, open, "", "", "", 401},
		{"any header, all are let in", "GET", "/minibus/identity/token?api-version=2019-08-01&resource=r", "", []string{"X-IDENTITY-HEADER: x"}, open, entra.Developer, entra.DeveloperApp, "r", 0},
		{"another method", "PUT", "/minibus/identity/token?api-version=2019-08-01&resource=r", "", []string{shows}, nil, "", "", "", 405},
		{"Cloud Shell", "POST", "/minibus/identity/token", "resource=" + url.QueryEscape(bus), []string{metadata}, open, entra.Developer, entra.DeveloperApp, bus, 0},
		{"Cloud Shell by Java", "GET", "/minibus/identity/token?resource=r", "", []string{metadata}, open, entra.Developer, entra.DeveloperApp, "r", 0},
		{"Cloud Shell without a secret", "POST", "/minibus/identity/token", "resource=r", []string{metadata}, nil, "", "", "", 400},
		{"machine", "GET", "/metadata/identity/oauth2/token?api-version=2018-02-01&resource=r", "", []string{metadata}, open, entra.Developer, entra.DeveloperApp, "r", 0},
		{"machine by JavaScript", "GET", "/metadata/identity/oauth2/token/?api-version=2018-02-01&resource=r", "", []string{"Metadata: True"}, open, entra.Developer, entra.DeveloperApp, "r", 0},
		{"an identity of a machine", "GET", "/metadata/identity/oauth2/token?api-version=2018-02-01&resource=r&msi_res_id=/subscriptions/s/identities/i", "", []string{metadata}, open, principal, someone, "r", 0},
		{".NET looks for a machine", "GET", "/metadata/identity/oauth2/token?api-version=2018-02-01&resource=r", "", nil, open, "", "", "", 400},
		{".NET looks for another one", "GET", "/metadata/identity/getplatformmetadata?cred-api-version=2.0", "", []string{metadata}, open, "", "", "", 404},
		{"machine without a secret", "GET", "/metadata/identity/oauth2/token?api-version=2018-02-01&resource=r", "", []string{metadata}, nil, "", "", "", 400},
	} {
		s := testService(tt.change)
		status, answer := s.ask(t, tt.method, tt.address, tt.form, tt.lines...)
		m := texts(t, answer)
		if tt.oid == "" {
			if status != tt.status || m["error"] == "" || m["error_description"] == "" || strings.Contains(answer, secret) {
				t.Errorf("%s: %d %s", tt.name, status, answer)
			}
			continue
		}
		if status != 200 || m["token_type"] != "Bearer" || m["resource"] != tt.resource || m["client_id"] != tt.client ||
			!regexp.MustCompile(`"expires_on":"[^"]+"}\s*$`).MatchString(answer) {
			t.Errorf("%s: %d %s", tt.name, status, answer)
			continue
		}
		got := s.says(t, m["access_token"])
		if got.Object != tt.oid || got.App != tt.client || got.Audience[0] != tt.resource || got.Issuer != base+"/"+entra.Tenant+"/v2.0" || got.User {
			t.Errorf("%s: %+v", tt.name, got)
		}
	}
}

func TestOfWrongSecretsSomebodyIsTold(t *testing.T) {
	told := 0
	s := testService(func(o *Options) { o.Wrong = func(*http.Request) { told++ } })
	const path = "/minibus/identity/token?api-version=2019-08-01&resource=r"
	s.ask(t, "GET", path, "")
	s.ask(t, "GET", path, "", shows)
	if told != 0 {
		t.Errorf("told %d times of a right one, or of none", told)
	}
	s.ask(t, "GET", path, "", shows+"x")
	s.grant(t, "/adfs/oauth2/token", url.Values{"grant_type": {"client_credentials"}, "client_id": {"c"}, "client_secret": {"x"}, "resource": {"r"}})
	if told != 2 {
		t.Errorf("told %d times, want 2", told)
	}
}

func TestWhenManagedTokensExpire(t *testing.T) {
	s := testService(func(o *Options) { o.Open, o.Life = true, 5*time.Second })
	_, answer := s.ask(t, "GET", "/minibus/identity/token?api-version=2017-09-01&resource=r", "", "secret: x")
	if at, err := time.Parse("01/02/2006 15:04:05 -07:00", texts(t, answer)["expires_on"]); err != nil || time.Until(at) > 6*time.Second {
		t.Error(err, answer)
	}
	_, answer = s.ask(t, "GET", "/metadata/identity/oauth2/token?resource=r", "", "Metadata: true")
	if m := texts(t, answer); m["expires_in"] != "5" || len(m["not_before"]) != 10 || len(m["expires_on"]) != 10 {
		t.Error(answer)
	}
}

// grant posts a form to the token endpoint of a tenant.
func (s *Service) grant(t *testing.T, path string, form url.Values, lines ...string) (int, map[string]any) {
	t.Helper()
	status, answer := s.ask(t, "POST", path, form.Encode(), lines...)
	m := make(map[string]any)
	if err := json.Unmarshal([]byte(answer), &m); err != nil {
		t.Fatal(err, answer)
	}
	return status, m
}

func credentials(more ...string) url.Values {
	v := url.Values{"grant_type": {"client_credentials"}, "client_id": {someone}, "client_secret": {secret}, "scope": {bus + "/.default"}}
	for i := 0; i < len(more); i += 2 {
		v.Set(more[i], more[i+1])
	}
	return v
}

func TestClientCredentials(t *testing.T) {
	const tenant = "12345678-0000-4000-8000-000000000000"
	for _, tt := range []struct {
		name, path string
		form       url.Values
		lines      []string
		oid, tid   string
		audience   string
		failure    string
	}{
		{"MSAL", "/" + tenant + "/oauth2/v2.0/token", credentials(), nil, principal, tenant, bus, ""},
		{"JavaScript's query", "/" + tenant + "/oauth2/v2.0/token?client-request-id=x", credentials(), nil, principal, tenant, bus, ""},
		{"a name", "/contoso.onmicrosoft.com/oauth2/v2.0/token", credentials("scope", "https://servicebus.azure.net/.default"), nil, principal, entra.Tenant, "https://servicebus.azure.net", ""},
		{"Java's scopes", "/common/oauth2/v2.0/token", credentials("scope", "openid profile offline_access "+base+"/.default"), nil, principal, entra.Tenant, base, ""},
		{"AD FS", "/adfs/oauth2/token", credentials("scope", bus+"/.default openid"), nil, principal, entra.Tenant, bus, ""},
		{"version 1", "/" + tenant + "/oauth2/token", credentials("scope", "", "resource", bus), nil, principal, tenant, bus, ""},
		{"an assertion", "/adfs/oauth2/token/", credentials("client_secret", "", "client_assertion", secret+"\n"), nil, principal, entra.Tenant, bus, ""},
		{"basic", "/common/oauth2/v2.0/token", credentials("client_secret", "", "client_id", ""), []string{"Authorization: Basic " + basic(someone, secret)}, principal, entra.Tenant, bus, ""},
		{"an application that nobody made", "/common/oauth2/v2.0/token", credentials("client_id", "AAAAAAAA-2222-3333-4444-555555555555"), nil,
			"aaaaaaaa-2222-3333-4444-555555555555", entra.Tenant, bus, ""},
		{"no GUID", "/common/oauth2/v2.0/token", credentials("client_id", "app"), nil, "846ff10c-77a5-59e6-99eb-98a4650ca4ca", entra.Tenant, bus, ""},
		{"wrong secret", "/common/oauth2/v2.0/token", credentials("client_secret", "x"), nil, "", "", "", "invalid_client"},
		{"no secret", "/common/oauth2/v2.0/token", credentials("client_secret", ""), nil, "", "", "", "invalid_client"},
		{"an assertion that is none", "/common/oauth2/v2.0/token", credentials("client_secret", "", "client_assertion", "eyJ.e30."), nil, "", "", "", "invalid_client"},
		{"no client", "/common/oauth2/v2.0/token", credentials("client_id", ""), nil, "", "", "", "invalid_request"},
		{"no scope", "/common/oauth2/v2.0/token", credentials("scope", "openid"), nil, "", "", "", "invalid_scope"},
		{"a long scope", "/common/oauth2/v2.0/token", credentials("scope", strings.Repeat("r", 2000)+"/.default"), nil, "", "", "", "invalid_scope"},
		{"no grant", "/common/oauth2/v2.0/token", credentials("grant_type", ""), nil, "", "", "", "invalid_request"},
		{"a password", "/common/oauth2/v2.0/token", credentials("grant_type", "password"), nil, "", "", "", "unsupported_grant_type"},
		{"too much", "/common/oauth2/v2.0/token", credentials("x", strings.Repeat("x", maxForm)), nil, "", "", "", "invalid_request"},
	} {
		s := testService(strict)
		status, m := s.grant(t, strings.TrimSuffix(tt.path, "/"), tt.form, tt.lines...)
		if tt.failure != "" {
			if status < 400 || m["error"] != tt.failure || strings.Contains(fmt.Sprint(m), secret) {
				t.Errorf("%s: %d %v", tt.name, status, m)
			}
			continue
		}
		token, _ := m["access_token"].(string)
		if status != 200 || m["token_type"] != "Bearer" || m["expires_in"] != 3600.0 || m["refresh_token"] != nil {
			t.Errorf("%s: %d %v", tt.name, status, m)
			continue
		}
		if got := s.says(t, token); got.Object != tt.oid || got.Tenant != tt.tid || got.Audience[0] != tt.audience || got.User {
			t.Errorf("%s: %+v", tt.name, got)
		}
	}
}

func basic(name, password string) string {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.SetBasicAuth(name, password)
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Basic ")
}

func TestDiscovery(t *testing.T) {
	s := testService(nil)
	for path, want := range map[string][2]string{
		"/organizations/v2.0/.well-known/openid-configuration": {base + "/organizations/v2.0", base + "/organizations/oauth2/v2.0/token"},
		"/adfs/.well-known/openid-configuration?":              {base + "/adfs/v2.0", base + "/adfs/oauth2/token"},
	} {
		status, answer := s.ask(t, "GET", path, "")
		var m map[string]any
		if err := json.Unmarshal([]byte(answer), &m); err != nil || status != 200 || m["issuer"] != want[0] || m["token_endpoint"] != want[1] {
			t.Errorf("%s: %d %s", path, status, answer)
		}
		for _, name := range []string{"jwks_uri", "device_authorization_endpoint", "token_endpoint"} {
			address, _ := m[name].(string)
			if r := httptest.NewRequest(http.MethodPost, address, nil); !Wants(r) {
				t.Errorf("%s: %s is not served", name, address)
			}
		}
	}
}

// A verifier elsewhere that asks for the keys takes the tokens.
func TestKeysArePublished(t *testing.T) {
	s := testService(nil)
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.Serve(w, r, "http://"+r.Host) }))
	defer h.Close()
	issuer, err := entra.Discover(t.Context(), h.Client(), h.URL+"/"+entra.Tenant+"/v2.0")
	if err != nil {
		t.Fatal(err)
	}
	other, err := entra.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	v := entra.NewVerifier(func() (*entra.Key, error) { return other, nil }, issuer)
	resp, err := h.Client().PostForm(h.URL+"/"+entra.Tenant+"/oauth2/v2.0/token", credentials())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var m struct {
		Access string `json:"access_token"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&m); err != nil {
		t.Fatal(err)
	}
	if got, err := v.Verify(m.Access, time.Now()); err != nil || got.Object != principal || got.Own {
		t.Errorf("%+v, %v", got, err)
	}
}

// newCode begins a sign-in with a device code.
func (s *Service) newCode(t *testing.T) (device, user string) {
	t.Helper()
	status, m := s.grant(t, "/common/oauth2/v2.0/devicecode", url.Values{"client_id": {"az"}, "scope": {base + "/.default offline_access"}})
	device, _ = m["device_code"].(string)
	user, _ = m["user_code"].(string)
	if status != 200 || m["verification_uri"] != base+DevicePath || !strings.Contains(fmt.Sprint(m["message"]), user) || len(user) != 9 || m["expires_in"] != 900.0 {
		t.Fatalf("%d %v", status, m)
	}
	return device, user
}

func poll(device string) url.Values {
	return url.Values{"grant_type": {grantDevice}, "client_id": {"az"}, "device_code": {device}}
}

func TestDeviceCodes(t *testing.T) {
	s := testService(nil)
	device, user := s.newCode(t)
	waits := func() {
		t.Helper()
		if status, m := s.grant(t, "/common/oauth2/v2.0/token", poll(device)); status != 400 || m["error"] != "authorization_pending" {
			t.Errorf("%d %v", status, m)
		}
	}
	page := func(form string, want int, text string) {
		t.Helper()
		if status, got := s.ask(t, "POST", DevicePath, form); status != want || !strings.Contains(got, text) {
			t.Errorf("%q: %d %s", form, status, got)
		}
		waits()
	}
	if status, got := s.ask(t, "GET", DevicePath+"?user_code=%22%3E%3Cscript%3E", ""); status != 200 || strings.Contains(got, "<script>") || !strings.Contains(got, `name="secret"`) {
		t.Errorf("%d %s", status, got)
	}
	page("user_code="+user+"&secret=wrong", 403, "not the identity secret")
	page("user_code="+user+"&secret=wrong", 403, `type="password" autocomplete="off" autofocus`) // the code is there already
	page("user_code="+user, 403, "not the identity secret")
	page("user_code=ABCDEFGHI&secret="+secret, 404, "no such code")
	if status, m := s.grant(t, "/common/oauth2/v2.0/token", poll("x")); status != 400 || m["error"] != "expired_token" {
		t.Errorf("%d %v", status, m)
	}
	if status, got := s.ask(t, "POST", DevicePath, "user_code="+strings.ToLower(user)+"&secret="+secret); status != 200 || !strings.Contains(got, "You are signed in") {
		t.Errorf("%d %s", status, got)
	}
	status, m := s.grant(t, "/common/oauth2/v2.0/token", poll(device))
	access, _ := m["access_token"].(string)
	refresh, _ := m["refresh_token"].(string)
	if status != 200 || m["id_token"] == nil || m["client_info"] == nil {
		t.Fatalf("%d %v", status, m)
	}
	if got := s.says(t, access); !got.IsDeveloper() || !got.User || !got.IsForManager(base) || got.App != "az" {
		t.Errorf("%+v", got)
	}
	if status, _ := s.grant(t, "/common/oauth2/v2.0/token", poll(device)); status != 400 {
		t.Error("the code counts twice")
	}
	// The refresh token gets a token for something else, and is none itself.
	again := url.Values{"grant_type": {"refresh_token"}, "client_id": {"az"}, "refresh_token": {refresh}, "scope": {bus + "/.default"}}
	_, m = s.grant(t, "/common/oauth2/v2.0/token", again)
	access, _ = m["access_token"].(string)
	if got := s.says(t, access); !got.IsForServiceBus(nil) || !got.IsDeveloper() {
		t.Errorf("%+v", got)
	}
	again.Set("refresh_token", access)
	if status, m := s.grant(t, "/common/oauth2/v2.0/token", again); status != 400 || m["error"] != "invalid_grant" {
		t.Errorf("an access token as a refresh token: %d %v", status, m)
	}
}

// A refresh token ends with the identity secret by which somebody got it, and one that was given without any does not
// count where a secret is asked for.
func TestRefreshTokensEndWithTheSecret(t *testing.T) {
	another := func(o *Options) { o.Secret = "another-secret" }
	itsOwn := func(o *Options) { o.Secret = "" }
	for _, tt := range []struct {
		name       string
		then, now  func(*Options)
		stillValid bool
	}{
		{"the same", nil, nil, true},
		{"another", nil, another, false},
		{"the key's", itsOwn, itsOwn, true},
		{"the key's, then a chosen one", itsOwn, nil, false},
		{"none, then one", open, nil, false},
		{"one, then none", nil, open, true},
	} {
		s := testService(tt.then)
		device, user := s.newCode(t)
		shown, err := s.secret()
		if err != nil {
			t.Fatal(err)
		}
		s.ask(t, "POST", DevicePath, url.Values{"user_code": {user}, "secret": {shown}}.Encode())
		_, m := s.grant(t, "/common/oauth2/v2.0/token", poll(device))
		refresh, _ := m["refresh_token"].(string)
		again := url.Values{"grant_type": {"refresh_token"}, "client_id": {"az"}, "refresh_token": {refresh}}
		status, m := testService(tt.now).grant(t, "/common/oauth2/v2.0/token", again)
		if tt.stillValid != (status == 200) || !tt.stillValid && m["error"] != "invalid_grant" {
			t.Errorf("%s: %d %v", tt.name, status, m)
		}
	}
}

// Where everybody gets a token, the first poll has it.
func TestDeviceCodesWithoutASecret(t *testing.T) {
	s := testService(open)
	device, _ := s.newCode(t)
	if status, m := s.grant(t, "/common/oauth2/v2.0/token", poll(device)); status != 200 {
		t.Errorf("%d %v", status, m)
	}
	if status, got := s.ask(t, "GET", DevicePath, ""); status != 200 || strings.Contains(got, `name="secret"`) {
		t.Errorf("%d %s", status, got)
	}
}

// At the limit a new sign-in is refused, and those that wait go on: one address can't use up all of them.
func TestDeviceCodesAreBounded(t *testing.T) {
	s := testService(nil)
	ask := func(from string) int {
		r := httptest.NewRequest(http.MethodPost, "/common/oauth2/v2.0/devicecode", strings.NewReader("client_id=az"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.RemoteAddr = from
		w := httptest.NewRecorder()
		s.Serve(w, r, base)
		if w.Code != 200 && texts(t, w.Body.String())["error"] != "slow_down" {
			t.Error(w.Body)
		}
		return w.Code
	}
	device, user := s.newCode(t)
	for i := range maxCodes {
		want := 200
		if i >= maxCodesOf {
			want = 400
		}
		if got := ask(fmt.Sprintf("10.0.0.1:%d", 1000+i)); got != want {
			t.Fatalf("%d: %d", i, got)
		}
	}
	for i := range maxCodes { // of other addresses
		ask(fmt.Sprintf("10.0.1.%d:1000", i))
	}
	if len(s.codes) != maxCodes || ask("10.0.2.1:1000") != 400 {
		t.Error(len(s.codes))
	}
	if status, text := s.ask(t, "POST", DevicePath, "user_code="+user+"&secret="+secret); status != 200 {
		t.Errorf("%d %s", status, text)
	}
	if status, m := s.grant(t, "/common/oauth2/v2.0/token", poll(device)); status != 200 {
		t.Errorf("%d %v", status, m)
	}
	for _, c := range s.codes {
		c.expires = time.Now().Add(-time.Second)
	}
	if got := ask("10.0.0.1:1000"); got != 200 || len(s.codes) != 1 {
		t.Errorf("after they expired: %d, %d", got, len(s.codes))
	}
}

func TestWhatIsNotForTheService(t *testing.T) {
	for _, path := range []string{"/", "/q", "/minibus/identity", "/minibus/identity/token/x", "/minibus/ca.pem", "/oauth2/token", "/a/b/oauth2/token", "/a/oauth2/tokens",
		"/a%2Foauth2/token", "/adfs/oauth2/token?api-version=2021-05", "/minibus/identity/token?api-version=2021-05", "/metadata/endpoints?api-version=2022-09-01"} {
		if Wants(httptest.NewRequest(http.MethodPost, path, nil)) {
			t.Errorf("%s is", path)
		}
	}
}
