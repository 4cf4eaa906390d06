package identity

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"minibus/internal/entra"
)

// appService answers in the form of App Service, whose clients show a secret in a header: the version of 2019, and
// that of 2017 with other names. Those of Cloud Shell, which use the same address, show Metadata: true.
func (c *call) appService() {
	if !c.method(http.MethodGet, http.MethodPost) || !c.form() {
		return
	}
	q := c.r.Form
	shown, old := c.r.Header.Get("X-IDENTITY-HEADER"), false
	if shown == "" {
		shown = c.r.Header.Get("secret")
		old = shown != ""
	}
	if shown == "" && c.hasMetadataHeader() {
		c.instanceMetadata()
		return
	}
	ok, err := c.knows(shown)
	switch {
	case err != nil:
		c.failed(err)
		return
	case shown == "":
		c.refuse(http.StatusUnauthorized, "unauthorized", "The request lacks the header X-IDENTITY-HEADER. Run the "+
			"client with IDENTITY_ENDPOINT and IDENTITY_HEADER, as minibus env --identity prints them.")
		return
	case !ok:
		c.refuse(http.StatusUnauthorized, "unauthorized", "X-IDENTITY-HEADER is not the identity secret of this "+
			"Minibus. Set IDENTITY_HEADER to what minibus env --identity prints.")
		return
	}
	id := q.Get("clientid") // of 2017
	for _, name := range []string{"client_id", "object_id", "principal_id", "mi_res_id"} {
		if id == "" {
			id = q.Get(name)
		}
	}
	c.grant(q.Get("resource"), id, func(m *managedToken, expires time.Time) {
		if old || q.Get("api-version") == "2017-09-01" {
			m.ExpiresOn = expires.UTC().Format("01/02/2006 15:04:05 +00:00")
		}
		m.ExpiresIn, m.NotBefore = "", "" // .NET takes whichever comes later for the expiry
	})
}

func (c *call) hasMetadataHeader() bool { return strings.EqualFold(c.r.Header.Get("Metadata"), "true") }

// instanceMetadata answers as the metadata service of a virtual machine. Its clients can show no secret.
func (c *call) instanceMetadata() {
	switch {
	case !c.hasMetadataHeader():
		// .NET asks without the header, and takes just this status for a sign that the service is there.
		c.refuse(http.StatusBadRequest, "invalid_request", "Required metadata header not specified")
		return
	case !c.s.options.Open:
		c.refuse(http.StatusBadRequest, "invalid_request", "Identity not found. Where tokens are checked, this "+
			"Minibus gives them to clients with the identity secret: run the client with IDENTITY_ENDPOINT and "+
			"IDENTITY_HEADER, as minibus env --identity prints them.")
		return
	case !c.method(http.MethodGet, http.MethodPost) || !c.form():
		return
	}
	q := c.r.Form
	id := ""
	for _, name := range []string{"client_id", "object_id", "principal_id", "msi_res_id", "mi_res_id"} {
		if id == "" {
			id = q.Get(name)
		}
	}
	c.grant(q.Get("resource"), id, nil)
}

// managedToken is the answer of all forms. Its values are texts, for .NET fails at numbers, and expires_on comes last.
type managedToken struct {
	Access    string `json:"access_token"`
	Client    string `json:"client_id"`
	Resource  string `json:"resource"`
	Type      string `json:"token_type"`
	ExpiresIn string `json:"expires_in,omitempty"`
	NotBefore string `json:"not_before,omitempty"`
	ExpiresOn string `json:"expires_on"`
}

// grant answers with a token of the identity with an id; without one the developer's.
func (c *call) grant(resource, id string, shape func(*managedToken, time.Time)) {
	if u, err := url.Parse(resource); resource == "" || err != nil || len(resource) > maxAudience || u.Fragment != "" {
		c.refuse(http.StatusBadRequest, "invalid_request", "The request lacks a resource, such as "+
			"https://servicebus.azure.net/.")
		return
	}
	who := developer
	if id != "" {
		known := false
		if c.s.options.Identity != nil {
			who.app, who.object, known = c.s.options.Identity(id)
		}
		switch {
		case known:
		case c.s.options.Strict:
			c.refuse(http.StatusBadRequest, "invalid_request", "Identity not found")
			return
		default:
			who = c.s.application(id)
		}
	}
	now := time.Now()
	text, err := c.issued(who, entra.Tenant, resource, now)
	if err != nil {
		c.failed(err)
		return
	}
	expires := now.Add(c.s.options.Life)
	m := &managedToken{Access: text, Client: who.app, Resource: resource, Type: "Bearer",
		ExpiresIn: strconv.Itoa(int(c.s.options.Life.Seconds())),
		NotBefore: strconv.FormatInt(now.Unix(), 10), ExpiresOn: strconv.FormatInt(expires.Unix(), 10)}
	if shape != nil {
		shape(m, expires)
	}
	c.answer(http.StatusOK, m)
}
