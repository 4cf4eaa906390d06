package entra

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"minibus/internal/sas"
)

var (
	now2030  = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	testKey  = sync.OnceValue(mustKey)
	otherKey = sync.OnceValue(mustKey)
	own      = func() (*Key, error) { return testKey(), nil }
)

func mustKey() *Key {
	k, err := NewKey()
	if err != nil {
		panic(err)
	}
	return k
}

const application = "11111111-2222-3333-4444-555555555555"

func testToken() Token {
	return Token{Issuer: "http://localhost:5300/" + Tenant + "/v2.0", Audience: []string{"https://servicebus.azure.net/"}, Object: application, Tenant: Tenant, App: application}
}

func signed(t *testing.T, k *Key, kind string, of Token) string {
	t.Helper()
	text, err := k.Sign(kind, of, now2030, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestATokenSaysWhatItWasMadeFor(t *testing.T) {
	text := signed(t, testKey(), KindAccess, testToken())
	v := NewVerifier(own)
	for range 2 { // the second time without its signature
		got, err := v.Verify(text, now2030)
		if err != nil {
			t.Fatal(err)
		}
		if got.Object != application || got.App != application || !got.Own || got.User || !got.Expires.Equal(now2030.Add(time.Hour)) ||
			!got.IsForServiceBus(nil) || got.IsForManager("http://localhost:5300") || got.IsDeveloper() {
			t.Errorf("%+v", got)
		}
	}
	var said map[string]any
	middle, err := base64.RawURLEncoding.DecodeString(strings.Split(text, ".")[1])
	if err != nil || json.Unmarshal(middle, &said) != nil {
		t.Fatal(err)
	}
	unique, _ := said["uti"].(string)
	delete(said, "uti")
	want := map[string]any{"aud": "https://servicebus.azure.net/", "iss": "http://localhost:5300/" + Tenant + "/v2.0", "iat": 1.8934560e9, "nbf": 1.8934560e9,
		"exp": 1.8934596e9, "oid": application, "sub": application, "tid": Tenant, "appid": application, "azp": application, "idtyp": "app", "ver": "2.0"}
	if !maps.Equal(said, want) || unique == "" {
		t.Errorf("%v, want %v", said, want)
	}
}

// part encodes one of the three parts of a token.
func part(v any) string {
	text, _ := json.Marshal(v)
	return base64.RawURLEncoding.EncodeToString(text)
}

// withKeyOf is a token by a symmetric key that everybody knows: the public one.
func withKeyOf(secret []byte, header map[string]any, claims string) string {
	text := part(header) + "." + claims
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(text))
	return text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func TestHostileTokens(t *testing.T) {
	text := signed(t, testKey(), KindAccess, testToken())
	parts := strings.Split(text, ".")
	header := map[string]any{"alg": "RS256", "typ": "JWT", "kid": testKey().id}
	with := func(name string, value any) map[string]any {
		h := maps.Clone(header)
		h[name] = value
		return h
	}
	der, _ := x509.MarshalPKIXPublicKey(&testKey().private.PublicKey)
	public := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	of := func(change func(*Token)) Token {
		token := testToken()
		change(&token)
		return token
	}
	impostor := &Key{private: otherKey().private, id: testKey().id}
	cloud := of(func(x *Token) { x.Issuer = "https://login.microsoftonline.com/" + Tenant + "/v2.0" })
	flip := func(s string, i int) string {
		b := []byte(s)
		b[i] = map[bool]byte{true: 'B', false: 'A'}[b[i] == 'A']
		return string(b)
	}
	last := parts[2][len(parts[2])-1] // its lowest bits are unused
	sameBits := parts[2][:len(parts[2])-1] + string(last+1)
	for name, tt := range map[string]struct {
		text string
		want sas.Reason
	}{
		"nothing":                      {"", sas.Malformed},
		"two parts":                    {parts[0] + "." + parts[1], sas.Malformed},
		"four parts":                   {text + ".x", sas.Malformed},
		"no base64":                    {parts[0] + ".!." + parts[2], sas.Malformed},
		"no JSON":                      {parts[0] + "." + base64.RawURLEncoding.EncodeToString([]byte("{")) + "." + parts[2], sas.Malformed},
		"very long":                    {parts[0] + "." + parts[1] + "." + strings.Repeat("A", maxToken), sas.Malformed},
		"alg none":                     {part(with("alg", "none")) + "." + parts[1] + ".", sas.BadSignature},
		"alg None with a signature":    {part(with("alg", "None")) + "." + parts[1] + "." + parts[2], sas.BadSignature},
		"no alg":                       {part(map[string]any{"kid": testKey().id}) + "." + parts[1] + "." + parts[2], sas.BadSignature},
		"HS256 with the public key":    {withKeyOf(public, with("alg", "HS256"), parts[1]), sas.BadSignature},
		"HS256 with its bytes":         {withKeyOf(der, with("alg", "HS256"), parts[1]), sas.BadSignature},
		"HS256 with the modulus":       {withKeyOf([]byte(testKey().Public().Modulus), with("alg", "HS256"), parts[1]), sas.BadSignature},
		"RS512 in the header":          {part(with("alg", "RS512")) + "." + parts[1] + "." + parts[2], sas.BadSignature},
		"a changed claim":              {parts[0] + "." + part(map[string]any{"oid": Developer, "tid": Tenant, "iss": testToken().Issuer, "exp": 4e9}) + "." + parts[2], sas.BadSignature},
		"a changed byte of the claims": {parts[0] + "." + flip(parts[1], 30) + "." + parts[2], 0},
		"a changed byte":               {parts[0] + "." + parts[1] + "." + flip(parts[2], 10), sas.BadSignature},
		"a changed unused bit":         {parts[0] + "." + parts[1] + "." + sameBits, 0},
		"no signature":                 {parts[0] + "." + parts[1] + ".", sas.BadSignature},
		"another key under our id":     {signed(t, impostor, KindAccess, testToken()), sas.BadSignature},
		"an unknown key":               {signed(t, otherKey(), KindAccess, testToken()), sas.BadSignature},
		"of the cloud":                 {signed(t, otherKey(), KindAccess, cloud), sas.Issuer},
		"of another issuer by our key": {signed(t, testKey(), KindAccess, of(func(x *Token) { x.Issuer = "https://idp.test" })), sas.Issuer},
		"for another tenant than iss":  {signed(t, testKey(), KindAccess, of(func(x *Token) { x.Tenant = application })), sas.Issuer},
		"without oid":                  {signed(t, testKey(), KindAccess, of(func(x *Token) { x.Object = "" })), sas.Malformed},
		"a refresh token":              {signed(t, testKey(), KindRefresh, testToken()), sas.Malformed},
		"an id token":                  {signed(t, testKey(), KindID, testToken()), sas.Malformed},
	} {
		v := NewVerifier(own)
		_, err := v.Verify(tt.text, now2030)
		var refused *sas.TokenError
		if !errors.As(err, &refused) || tt.want != 0 && refused.Reason != tt.want {
			t.Errorf("%s: %v", name, err)
		}
		if len(v.kept) != 0 {
			t.Errorf("%s: it is kept", name)
		}
	}
}

func TestTheTimeOfAToken(t *testing.T) {
	text := signed(t, testKey(), KindAccess, testToken())
	v := NewVerifier(own)
	for _, tt := range []struct {
		at   time.Duration
		want string
	}{
		{-Leeway, ""}, {time.Hour + Leeway, ""},
		{-Leeway - time.Second, "MalformedToken: The token is not valid yet."},
		{time.Hour + Leeway + time.Second, "ExpiredToken: The token is expired. Expiration time: '2030-01-01 01:00:00Z'."},
	} {
		_, err := v.Verify(text, now2030.Add(tt.at))
		if (err == nil) != (tt.want == "") || err != nil && err.Error() != tt.want {
			t.Errorf("%v: %v", tt.at, err)
		}
	}
}

func TestAudiences(t *testing.T) {
	means := func(host string) bool { return host == "orders.localhost:5300" }
	for audience, want := range map[string]bool{"https://servicebus.azure.net": true, "https://servicebus.azure.net/": true, "HTTPS://ServiceBus.azure.net/": true,
		"https://servicebus.chinacloudapi.cn/": true, "https://orders.localhost:5300": true, "https://orders.localhost:5300/": true,
		"https://other.localhost:5300/": false, "https://servicebus.azure.net//": false, "https://servicebus.azure.net.evil.test": false, "": false, "servicebus.azure.net": false,
		"https://vault.azure.net": false, "https://management.azure.com/": false, "https://orders.localhost:5300/path": false} {
		token := Token{Audience: []string{audience}}
		if got := token.IsForServiceBus(means); got != want {
			t.Errorf("%q: %v", audience, got)
		}
	}
	for audience, want := range map[string]bool{"https://management.azure.com/": true, "https://management.core.windows.net/": true, "https://localhost:5300": true, "https://localhost:5300//": true,
		"https://localhost:53000": false, "https://servicebus.azure.net/": false, "": false} {
		token := Token{Audience: []string{audience}}
		if got := token.IsForManager("https://localhost:5300"); got != want {
			t.Errorf("%q: %v", audience, got)
		}
	}
}

// The key is the same after a restart, and so are its id and the secret; only its owner reads it.
func TestTheKeyIsKept(t *testing.T) {
	dir := t.TempDir()
	first, err := OpenKey(dir)
	if err != nil {
		t.Fatal(err)
	}
	again, err := OpenKey(dir)
	if err != nil || first.id != again.id || first.Secret() != again.Secret() || len(first.Secret()) != 32 {
		t.Errorf("%v: %s, %s", err, first.id, again.id)
	}
	file := filepath.Join(dir, KeyFile)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
	if text, err := os.ReadFile(file); err != nil || strings.Contains(string(text), first.Secret()) {
		t.Error("the file shows the secret", err)
	}
	for _, text := range []string{"", "no PEM", string(pem.EncodeToMemory(&pem.Block{Type: blockKey, Bytes: []byte("x")}))} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenKey(dir); err == nil || !strings.Contains(err.Error(), "remove it to have a new one made") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// idp is another issuer.
func idp(t *testing.T, keys ...JWK) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]string{"issuer": s.URL, "jwks_uri": s.URL + "/keys"})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": keys})
	})
	return s
}

func TestTokensOfANamedIssuer(t *testing.T) {
	s := idp(t, otherKey().Public(), JWK{Type: "EC", ID: "ec"})
	issuer, err := Discover(t.Context(), s.Client(), s.URL+"/")
	if err != nil {
		t.Fatal(err)
	}
	v := NewVerifier(own, issuer)
	token := testToken()
	token.Issuer, token.Object = s.URL, Developer
	got, err := v.Verify(signed(t, otherKey(), "at+jwt", token), now2030)
	if err != nil || got.Own || got.IsDeveloper() {
		t.Errorf("%+v, %v", got, err)
	}
	// Its key makes no token of ours, and ours none of it.
	for _, text := range []string{signed(t, otherKey(), KindAccess, testToken()), signed(t, testKey(), KindAccess, token)} {
		var refused *sas.TokenError
		if _, err := v.Verify(text, now2030); !errors.As(err, &refused) || refused.Reason != sas.Issuer {
			t.Error(err)
		}
	}
	if _, err := v.VerifyRefresh(signed(t, otherKey(), KindRefresh, token), now2030); err == nil {
		t.Error("it has made a refresh token")
	}
}

func TestIssuersThatAreNone(t *testing.T) {
	weak := otherKey().Public()
	weak.Modulus = base64.RawURLEncoding.EncodeToString([]byte("weak"))
	for want, keys := range map[string][]JWK{"no RSA key": nil, "has 31 bits": {weak}} {
		s := idp(t, keys...)
		if _, err := Discover(t.Context(), s.Client(), s.URL); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Discover(ctx, http.DefaultClient, "http://localhost:1"); err == nil {
		t.Error("nobody is there")
	}
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	if _, err := Discover(t.Context(), s.Client(), s.URL); err == nil || !strings.Contains(err.Error(), "404") {
		t.Error(err)
	}
}

func TestKeptTokensAreBounded(t *testing.T) {
	v := NewVerifier(own)
	for i := range maxKept {
		v.kept[string(rune(i))] = new(Token)
	}
	if _, err := v.Verify(signed(t, testKey(), KindAccess, testToken()), now2030); err != nil || len(v.kept) != 1 {
		t.Error(len(v.kept), err)
	}
}
