package identity

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"minibus/internal/entra"
)

// Options configure [New].
type Options struct {
	Key      func() (*entra.Key, error) // signs the tokens; made at its first use
	Verifier *entra.Verifier            // of refresh tokens

	// Open gives tokens to everybody, since they open nothing that is shut (--auth any). Else a client has to show the
	// identity secret.
	Open bool
	// Secret is the identity secret; empty: that of the key.
	Secret string
	// Strict refuses identities that nobody has made (--auth entra).
	Strict bool
	// Life is how long a token is valid; zero: an hour.
	Life time.Duration
	// Wrong is told of requests with a wrong secret. May be nil.
	Wrong func(*http.Request)
	// Identity returns a managed identity by its client id, its principal id, or its resource id. May be nil.
	Identity func(id string) (clientID, principalID string, ok bool)
}

// Service answers the requests of clients that want tokens.
type Service struct {
	options Options

	mu    sync.Mutex
	codes map[string]*deviceCode // by the device code
}

// New returns a service.
func New(o Options) *Service {
	if o.Life == 0 {
		o.Life = time.Hour
	}
	return &Service{options: o, codes: make(map[string]*deviceCode)}
}

// The paths of the managed identity and of the page for device codes.
const (
	TokenPath  = "/minibus/identity/token"
	DevicePath = "/minibus/identity/device"

	instanceMetadataPath = "/metadata/identity/oauth2/token"
	platformPath         = "/metadata/identity/getplatformmetadata"
)

var (
	// dayVersion matches the api-versions of managed identities. Those of the Service Bus administration have no day.
	dayVersion = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}(-[a-z]+)?$`)

	// tenantPath matches the paths of the issuer: a tenant, and what is wanted of it.
	tenantPath = regexp.MustCompile(`(?i)^/([^/]+)/(?:(v2\.0/)?\.well-known/(openid-configuration)|` +
		`oauth2/(?:v2\.0/)?(token|devicecode)|discovery/(?:v2\.0/)?(keys))$`)
)

// Wants reports whether a request is for the service. Entities with such names keep their requests: those have an
// api-version without a day.
func Wants(r *http.Request) bool {
	path := strings.ToLower(r.URL.EscapedPath())
	version := r.URL.Query().Get("api-version")
	if version != "" && !dayVersion.MatchString(version) {
		return false
	}
	return IsManaged(r) || path == DevicePath || tenantPath.MatchString(path)
}

// IsManaged reports whether a request is for a managed identity, which no proxy and no other machine may use.
func IsManaged(r *http.Request) bool {
	switch strings.TrimSuffix(strings.ToLower(r.URL.EscapedPath()), "/") {
	case TokenPath, instanceMetadataPath, platformPath:
		return true
	}
	return false
}

// IsPage reports whether a request is for the page that people open in a browser.
func IsPage(r *http.Request) bool { return strings.ToLower(r.URL.EscapedPath()) == DevicePath }

// maxForm bounds the body of a request, in bytes. An assertion has some thousand.
const maxForm = 64 << 10

// Serve answers a request. base is the address by which the client reaches Minibus, without a slash at the end.
func (s *Service) Serve(w http.ResponseWriter, r *http.Request, base string) {
	c := &call{s, w, r, base}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Pragma", "no-cache")
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	switch strings.TrimSuffix(strings.ToLower(r.URL.EscapedPath()), "/") {
	case TokenPath:
		c.appService()
	case instanceMetadataPath:
		c.instanceMetadata()
	case platformPath: // .NET asks it first, and takes 400 for another kind of machine
		c.refuse(http.StatusNotFound, "not_found", "There is no platform metadata here.")
	case DevicePath:
		c.page()
	default:
		c.tenant()
	}
}

// call is one request.
type call struct {
	s    *Service
	w    http.ResponseWriter
	r    *http.Request
	base string
}

func (c *call) answer(status int, body any) {
	c.w.Header().Set("Content-Type", "application/json; charset=utf-8")
	c.w.WriteHeader(status)
	_ = json.NewEncoder(c.w).Encode(body) // the client is gone if this fails
}

// refuse answers in the form of OAuth 2.0 [RFC 6749 5.2], which managed identities have too.
func (c *call) refuse(status int, code, text string) {
	c.answer(status, struct {
		Code        string `json:"error"`
		Text        string `json:"error_description"`
		Timestamp   string `json:"timestamp"`
		Trace       string `json:"trace_id"`
		Correlation string `json:"correlation_id"`
	}{code, text, time.Now().UTC().Format("2006-01-02 15:04:05Z"), uuid.NewString(), uuid.NewString()})
}

func (c *call) failed(err error) {
	c.refuse(http.StatusInternalServerError, "server_error", err.Error())
}

// method fails unless the request has one of these methods.
func (c *call) method(allowed ...string) bool {
	for _, m := range allowed {
		if c.r.Method == m {
			return true
		}
	}
	c.w.Header().Set("Allow", strings.Join(allowed, ", "))
	c.refuse(http.StatusMethodNotAllowed, "invalid_request", "Use "+strings.Join(allowed, " or ")+".")
	return false
}

// form reads the form in the body.
func (c *call) form() bool {
	if err := c.r.ParseForm(); err != nil {
		c.refuse(http.StatusBadRequest, "invalid_request", "AADSTS90014: The body of the request is no form of at "+
			"most 64 KiB.")
		return false
	}
	return true
}

// knows reports whether a client has shown the identity secret, or need not. It takes the same time for every text.
func (c *call) knows(shown string) (bool, error) {
	o := &c.s.options
	if o.Open {
		return true, nil
	}
	secret, err := c.s.secret()
	if err != nil {
		return false, err
	}
	a, b := sha256.Sum256([]byte(shown)), sha256.Sum256([]byte(secret))
	ok := subtle.ConstantTimeCompare(a[:], b[:]) == 1
	if !ok && shown != "" && o.Wrong != nil {
		o.Wrong(c.r)
	}
	return ok, nil
}

func (s *Service) secret() (string, error) {
	if s.options.Secret != "" {
		return s.options.Secret, nil
	}
	key, err := s.options.Key()
	if err != nil {
		return "", err
	}
	return key.Secret(), nil
}

// bond returns what a refresh token has of the identity secret, so that another secret ends it. One that was given
// without a secret has nothing.
func (s *Service) bond() (string, error) {
	if s.options.Open {
		return "", nil
	}
	key, err := s.options.Key()
	if err != nil {
		return "", err
	}
	secret, err := s.secret()
	return key.Bond(secret), err
}

// holder is who gets a token.
type holder struct {
	object, app string
	user        bool
}

// developer is who names no identity.
var developer = holder{object: entra.Developer, app: entra.DeveloperApp}

// application returns the holder with a client id. One that was made through Resource Manager has a principal id of
// its own.
func (s *Service) application(client string) holder {
	if s.options.Identity != nil {
		if app, principal, ok := s.options.Identity(client); ok {
			return holder{object: principal, app: app}
		}
	}
	if id, err := uuid.Parse(client); err == nil {
		client = id.String()
	}
	return holder{object: entra.ObjectOf(client), app: client}
}

// issued makes an access token.
func (c *call) issued(who holder, tenant, audience string, now time.Time) (string, error) {
	key, err := c.s.options.Key()
	if err != nil {
		return "", err
	}
	t := entra.Token{Issuer: c.base + "/" + tenant + "/v2.0", Audience: []string{audience}, Object: who.object,
		Tenant: tenant, App: who.app, User: who.user}
	return key.Sign(entra.KindAccess, t, now, c.s.options.Life)
}

// clientInfo is what MSAL reads of a person: the ids of the account and of its tenant.
func clientInfo(object, tenant string) string {
	text, _ := json.Marshal(map[string]string{"uid": object, "utid": tenant})
	return base64.RawURLEncoding.EncodeToString(text)
}
