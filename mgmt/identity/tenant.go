package identity

import (
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"minibus/internal/entra"
)

// maxAudience bounds what a token can be for, in bytes.
const maxAudience = 1024

// refreshLife is how long a refresh token is valid.
const refreshLife = 24 * time.Hour

// tenant answers below the path of a tenant, which may have any name.
func (c *call) tenant() {
	found := tenantPath.FindStringSubmatch(c.r.URL.EscapedPath())
	asked, what := found[1], strings.ToLower(found[3]+found[4]+found[5])
	switch what {
	case "openid-configuration":
		if c.method(http.MethodGet) {
			c.answer(http.StatusOK, c.configuration(asked, found[2] != ""))
		}
	case "keys":
		if c.method(http.MethodGet) {
			c.keys()
		}
	case "devicecode":
		if c.method(http.MethodPost) && c.form() {
			c.newDeviceCode(asked)
		}
	default:
		if c.method(http.MethodPost) && c.form() {
			c.token(asked)
		}
	}
}

// configuration is the document of OpenID Connect Discovery. AD FS and the first version have other paths.
func (c *call) configuration(tenant string, v2 bool) any {
	at := c.base + "/" + tenant
	version := "/"
	if v2 {
		version = "/v2.0/"
	}
	return struct {
		Issuer        string   `json:"issuer"`
		Authorization string   `json:"authorization_endpoint"`
		Token         string   `json:"token_endpoint"`
		Device        string   `json:"device_authorization_endpoint"`
		Keys          string   `json:"jwks_uri"`
		Methods       []string `json:"token_endpoint_auth_methods_supported"`
		Responses     []string `json:"response_types_supported"`
		Subjects      []string `json:"subject_types_supported"`
		Algorithms    []string `json:"id_token_signing_alg_values_supported"`
		Scopes        []string `json:"scopes_supported"`
		Grants        []string `json:"grant_types_supported"`
	}{
		at + "/v2.0", at + "/oauth2" + version + "authorize", at + "/oauth2" + version + "token",
		at + "/oauth2" + version + "devicecode", at + "/discovery" + version + "keys",
		[]string{"client_secret_post", "client_secret_basic", "private_key_jwt"}, []string{"code"},
		[]string{"pairwise"}, []string{"RS256"}, []string{"openid", "profile", "offline_access"},
		[]string{"client_credentials", "refresh_token", grantDevice},
	}
}

func (c *call) keys() {
	key, err := c.s.options.Key()
	if err != nil {
		c.failed(err)
		return
	}
	c.answer(http.StatusOK, map[string][]entra.JWK{"keys": {key.Public()}})
}

// tenantOf returns the id of a tenant as it stands in tokens: a GUID is kept, and all names mean this Minibus's own.
func tenantOf(asked string) string {
	if id, err := uuid.Parse(asked); err == nil {
		return id.String()
	}
	return entra.Tenant
}

const grantDevice = "urn:ietf:params:oauth:grant-type:device_code"

// token answers for each kind of grant.
func (c *call) token(asked string) {
	f := c.r.PostForm
	audience := audienceOf(f.Get("resource"), f.Get("scope"))
	if len(audience) > maxAudience {
		c.refuse(http.StatusBadRequest, "invalid_scope", "AADSTS70011: The scope is too long.")
		return
	}
	switch f.Get("grant_type") {
	case "client_credentials":
		c.forApplication(tenantOf(asked), audience)
	case grantDevice, "device_code":
		c.forDevice(audience)
	case "refresh_token":
		c.refreshed(audience)
	case "":
		c.refuse(http.StatusBadRequest, "invalid_request", "AADSTS900144: The request body must contain the following "+
			"parameter: 'grant_type'.")
	default:
		c.refuse(http.StatusBadRequest, "unsupported_grant_type", "AADSTS70003: Minibus supports the grants "+
			"client_credentials, device_code and refresh_token.")
	}
}

// audienceOf returns what a token is to be for: the resource, or of the scopes the first that names one. A resource
// keeps its slash: https://servicebus.azure.net//.default stands for one with it.
func audienceOf(resource, scopes string) string {
	if resource != "" {
		return resource
	}
	for scope := range strings.FieldsSeq(scopes) {
		if name, ok := strings.CutSuffix(scope, "/.default"); ok && name != "" {
			return name
		}
		scheme, rest, ok := strings.Cut(scope, "://")
		if i := strings.LastIndexByte(rest, '/'); ok && i > 0 { // https://host/permission
			return scheme + "://" + rest[:i]
		}
	}
	return ""
}

// tokens is the answer of the token endpoint. expires_in is a number.
type tokens struct {
	Type       string `json:"token_type"`
	Scope      string `json:"scope,omitempty"`
	ExpiresIn  int    `json:"expires_in"`
	Extended   int    `json:"ext_expires_in"`
	Access     string `json:"access_token"`
	Refresh    string `json:"refresh_token,omitempty"`
	ID         string `json:"id_token,omitempty"`
	ClientInfo string `json:"client_info,omitempty"`
}

// forApplication answers an application that shows a secret, or an assertion in its place.
func (c *call) forApplication(tenant, audience string) {
	f := c.r.PostForm
	client, secret, basic := c.r.BasicAuth()
	if !basic {
		client, secret = f.Get("client_id"), f.Get("client_secret")
	}
	if secret == "" {
		secret = strings.TrimSpace(f.Get("client_assertion"))
	}
	ok, err := c.knows(secret)
	switch {
	case err != nil:
		c.failed(err)
		return
	case client == "" || len(client) > maxAudience:
		c.refuse(http.StatusBadRequest, "invalid_request", "AADSTS900144: The request body must contain the following "+
			"parameter: 'client_id'.")
		return
	case !ok:
		c.refuse(http.StatusUnauthorized, "invalid_client", "AADSTS7000215: Invalid client secret provided. The "+
			"secret of every application is the identity secret of this Minibus: minibus env --identity prints it as "+
			"IDENTITY_HEADER.")
		return
	case audience == "":
		c.refuse(http.StatusBadRequest, "invalid_scope", "AADSTS1002012: The provided value for scope is not valid. "+
			"Ask for a resource, such as https://servicebus.azure.net/.default.")
		return
	}
	text, err := c.issued(c.s.application(client), tenant, audience, time.Now())
	if err != nil {
		c.failed(err)
		return
	}
	life := int(c.s.options.Life.Seconds())
	c.answer(http.StatusOK, tokens{Type: "Bearer", ExpiresIn: life, Extended: life, Access: text})
}

// refreshed answers a person's client that had tokens before.
func (c *call) refreshed(audience string) {
	bond, err := c.s.bond()
	if err != nil {
		c.failed(err)
		return
	}
	t, err := c.s.options.Verifier.VerifyRefresh(c.r.PostForm.Get("refresh_token"), time.Now())
	if err != nil || !t.Own || t.Bond != bond && !c.s.options.Open {
		c.refuse(http.StatusBadRequest, "invalid_grant", "AADSTS70000: The provided refresh token is malformed, "+
			"expired, of another Minibus, or of another identity secret. Sign in again.")
		return
	}
	if audience == "" {
		audience = t.Scope
	}
	c.forPerson(t.App, t.Tenant, audience)
}

// forPerson answers with all tokens of a person: to the resource, for the client, and to get more.
func (c *call) forPerson(client, tenant, audience string) {
	if audience == "" {
		audience = c.base
	}
	key, err := c.s.options.Key()
	var bond string
	if err == nil {
		bond, err = c.s.bond()
	}
	if err != nil {
		c.failed(err)
		return
	}
	now := time.Now()
	access := entra.Token{Issuer: c.base + "/" + tenant + "/v2.0", Audience: []string{audience}, Tenant: tenant,
		Object: entra.Developer, App: client, User: true, Scope: "user_impersonation"}
	id, again := access, access
	id.Audience, id.Scope = []string{client}, ""
	again.Audience, again.Scope, again.Bond = []string{access.Issuer}, audience, bond
	answer := tokens{Type: "Bearer", Scope: c.r.PostForm.Get("scope"), ExpiresIn: int(c.s.options.Life.Seconds()),
		ClientInfo: clientInfo(entra.Developer, tenant)}
	answer.Extended = answer.ExpiresIn
	for _, part := range []struct {
		into *string
		kind string
		of   entra.Token
		life time.Duration
	}{
		{&answer.Access, entra.KindAccess, access, c.s.options.Life},
		{&answer.ID, entra.KindID, id, c.s.options.Life},
		{&answer.Refresh, entra.KindRefresh, again, refreshLife},
	} {
		if *part.into, err = key.Sign(part.kind, part.of, now, part.life); err != nil {
			c.failed(err)
			return
		}
	}
	c.answer(http.StatusOK, answer)
}
