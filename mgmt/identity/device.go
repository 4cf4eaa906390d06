package identity

import (
	"crypto/rand"
	"encoding/hex"
	"html/template"
	"net"
	"net/http"
	"strings"
	"time"
)

// Limits of device codes. Anybody may ask for one.
const (
	codeLife    = 15 * time.Minute
	maxCodes    = 100
	maxCodesOf  = 50 // of one address
	pollSeconds = 1
)

// deviceCode is a sign-in that a person finishes in a browser.
type deviceCode struct {
	user     string // what the person types
	client   string
	tenant   string
	audience string
	from     string // the address that asked
	granted  bool
	expires  time.Time
}

// newDeviceCode begins a sign-in. Where tokens are given to everybody it is finished at once.
func (c *call) newDeviceCode(asked string) {
	f := c.r.PostForm
	client, audience := f.Get("client_id"), audienceOf(f.Get("resource"), f.Get("scope"))
	if client == "" || len(client) > maxAudience || len(audience) > maxAudience {
		c.refuse(http.StatusBadRequest, "invalid_request", "AADSTS900144: The request body must contain the following "+
			"parameter: 'client_id'.")
		return
	}
	code := make([]byte, 32)
	_, _ = rand.Read(code) // never fails
	device := hex.EncodeToString(code)
	d := &deviceCode{user: rand.Text()[:9], client: client, tenant: tenantOf(asked), audience: audience,
		from: addressOf(c.r), granted: c.s.options.Open, expires: time.Now().Add(codeLife)}
	if !c.s.keep(device, d) {
		c.refuse(http.StatusBadRequest, "slow_down", "AADSTS90055: Too many sign-ins wait for somebody to finish "+
			"them. Finish one, or try again in 15 minutes.")
		return
	}
	page := c.base + DevicePath
	c.answer(http.StatusOK, map[string]any{
		"user_code": d.user, "device_code": device, "verification_uri": page, "verification_url": page,
		"expires_in": int(codeLife.Seconds()), "interval": pollSeconds,
		"message": "To sign in, use a web browser to open the page " + page + " and enter the code " + d.user +
			" to authenticate.",
	})
}

// addressOf returns the address of a client, without its port.
func addressOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr // in memory
	}
	return host
}

// keep stores a code, or reports that there are too many. No new code ends one that a person may be typing.
func (s *Service) keep(device string, d *deviceCode) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, its := time.Now(), 0
	for name, c := range s.codes {
		switch {
		case c.expires.Before(now):
			delete(s.codes, name)
		case c.from == d.from:
			its++
		}
	}
	if len(s.codes) >= maxCodes || its >= maxCodesOf {
		return false
	}
	s.codes[device] = d
	return true
}

// take returns the code of a client that polls, and forgets it once it is granted.
func (s *Service) take(device string) (d deviceCode, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.codes[device]
	if found == nil || found.expires.Before(time.Now()) {
		return d, false
	}
	if found.granted {
		delete(s.codes, device)
	}
	return *found, true
}

// confirm grants the code that a person has typed.
func (s *Service) confirm(user string) bool {
	user = strings.ToUpper(strings.ReplaceAll(strings.TrimSpace(user), "-", ""))
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.codes {
		if d.user == user && !d.granted && d.expires.After(time.Now()) {
			d.granted = true
			return true
		}
	}
	return false
}

// forDevice answers a client that polls.
func (c *call) forDevice(audience string) {
	device := c.r.PostForm.Get("device_code")
	if device == "" {
		device = c.r.PostForm.Get("code") // of the first version
	}
	d, ok := c.s.take(device)
	switch {
	case !ok:
		c.refuse(http.StatusBadRequest, "expired_token", "AADSTS70020: The provided value for the input parameter "+
			"'device_code' is not valid, or has expired. Sign in again.")
	case !d.granted:
		c.refuse(http.StatusBadRequest, "authorization_pending", "AADSTS70016: OAuth 2.0 device flow error. "+
			"Authorization is pending. Continue polling.")
	default:
		if audience == "" {
			audience = d.audience
		}
		c.forPerson(d.client, d.tenant, audience)
	}
}

// pagePolicy lets a browser send the form of the page to where it came from, and nothing else.
const pagePolicy = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'"

var pageTemplate = template.Must(template.New("device").Parse(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sign in to Minibus</title>
<style>
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 24rem; margin: 15vh auto 0; padding: 0 1rem; }
h1 { font-size: 1.4rem; margin: 0 0 1rem; }
label { display: block; margin: 1rem 0 .25rem; }
input { width: 100%; box-sizing: border-box; font: inherit; padding: .5rem .6rem; border: 1px solid #8889;
  border-radius: 6px; }
input[name=user_code] { font-family: ui-monospace, monospace; letter-spacing: .1em; text-transform: uppercase; }
button { margin-top: 1.25rem; width: 100%; font: inherit; font-weight: 600; padding: .55rem; border: 0;
  border-radius: 6px; background: light-dark(#0f6b62, #16786d); color: #fff; cursor: pointer; }
.error { padding: .6rem .8rem; border-radius: 6px; background: #dc262620; border: 1px solid #dc2626; }
small { display: block; margin-top: .25rem; opacity: .75; }
code { font-family: ui-monospace, monospace; }
</style>
</head>
<body>
{{if .Done}}<h1>You are signed in</h1>
<p>Return to the program that showed the code. You can close this page.</p>
{{else}}<h1>Sign in to Minibus</h1>
{{with .Problem}}<p class="error" role="alert">{{.}}</p>{{end}}
<form method="post">
<label for="code">Code</label>
<input id="code" name="user_code" value="{{.Code}}" autocomplete="off"{{if not .Code}} autofocus{{end}} required>
<small>The program that you sign in to shows it.</small>
{{if .Secret}}<label for="secret">Identity secret</label>
<input id="secret" name="secret" type="password" autocomplete="off"{{if .Code}} autofocus{{end}} required>
<small><code>minibus env --identity</code> prints it as <code>IDENTITY_HEADER</code>.</small>
{{end}}<button>Sign in</button>
</form>
{{end}}</body>
</html>
`))

// page is where a person enters the code, and where tokens are checked the identity secret.
func (c *call) page() {
	if !c.method(http.MethodGet, http.MethodPost) || !c.form() {
		return
	}
	view := struct {
		Done, Secret  bool
		Code, Problem string
	}{Secret: !c.s.options.Open, Code: c.r.Form.Get("user_code")}
	status := http.StatusOK
	if c.r.Method == http.MethodPost {
		ok, err := c.knows(c.r.PostForm.Get("secret"))
		switch {
		case err != nil:
			c.failed(err)
			return
		case !ok:
			status, view.Problem = http.StatusForbidden, "This is not the identity secret of this Minibus."
		case c.s.confirm(view.Code) || c.s.options.Open:
			view.Done = true
		default:
			status, view.Code, view.Problem = http.StatusNotFound, "", "There is no such code, or it has expired."
		}
	}
	c.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	c.w.Header().Set("Content-Security-Policy", pagePolicy)
	c.w.WriteHeader(status)
	_ = pageTemplate.Execute(c.w, view) // the browser is gone if this fails
}
