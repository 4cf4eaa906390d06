package mgmt

import (
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"os"
	"strconv"

	"minibus/emulator"
	"minibus/internal/dotnet"
	"minibus/internal/sas"
	"minibus/mgmt/atom"
)

// maxDescription is the largest body of an administration request, in bytes. A filter has a thousand characters; an entity
// with every setting stays far below.
const maxDescription = 1 << 20

// call is one request to the administration API.
type call struct {
	broker  domain
	log     *slog.Logger
	access  *handler  // checks tokens
	granted sas.Grant // what the request's token allows
	w       http.ResponseWriter
	r       *http.Request
	query   url.Values
	target  target
	now     int64
	limits  emulator.Limits
}

// answer is a response.
type answer struct {
	status      int
	contentType string
	body        []byte
	updated     int64 // of the entity, in ms, for the ETag; 0: none
}

// write answers; an error means that the client is gone.
func (a *answer) write(w http.ResponseWriter) error {
	h := w.Header()
	if a.contentType != "" {
		h.Set("Content-Type", a.contentType)
	}
	if a.updated != 0 {
		h.Set("ETag", strconv.FormatInt(dotnet.OfUnixMilli(a.updated), 10))
	}
	if a.status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "SharedAccessSignature") // [RFC 9110 15.5.2] asks for one; no client reads it
	}
	if a.status != http.StatusNoContent {
		h.Set("Content-Length", strconv.Itoa(len(a.body)))
	}
	w.WriteHeader(a.status)
	_, err := w.Write(a.body)
	return err
}

// version returns the api-version as the client sent it, "" without one.
func (c *call) version() string { return c.query.Get("api-version") }

func (c *call) view(full bool) atom.View {
	return atom.View{Version: atom.Version(c.version()), Limits: c.limits, Full: full}
}

// isUpdate reports whether a put updates an entity rather than creates one. All clients send "*"; any other tag means update too.
func (c *call) isUpdate() bool { return c.r.Header.Get("If-Match") != "" }

// base returns the scheme and host by which the client addresses this server. They differ from client to client, so answers use
// each client's own.
func (c *call) base() string {
	scheme := "http"
	if isSecure(c.r) {
		scheme = "https"
	}
	return scheme + "://" + c.r.Host
}

// address returns the request's own address.
func (c *call) address() string { return c.base() + c.pathAndQuery() }

func (c *call) pathAndQuery() string {
	s := c.r.URL.EscapedPath()
	if c.r.URL.RawQuery != "" {
		s += "?" + c.r.URL.RawQuery
	}
	return s
}

// description reads the description in the body.
func (c *call) description() (*atom.Element, error) {
	body, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, maxDescription))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, problemf(http.StatusRequestEntityTooLarge, "SubCode=40000. The body of the request has more than %d bytes. ", tooLarge.Limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, problemf(http.StatusRequestTimeout, "SubCode=40800. The body of the request did not arrive in time. ")
	case err != nil:
		return nil, badRequest("The body of the request could not be read: " + err.Error() + ".")
	}
	_, parameters, _ := mime.ParseMediaType(c.r.Header.Get("Content-Type")) // not checked (management-rest 1.4)
	root, err := atom.Parse(body, parameters["charset"])
	if err != nil {
		return nil, err
	}
	return root.Description()
}

// entry answers with one entity. Creations have no ETag.
func (c *call) entry(status int, e atom.Entry, full bool) *answer {
	e.ID, e.Self = c.address(), c.address()
	a := &answer{status: status, contentType: atom.TypeEntry, updated: e.Updated}
	if status == http.StatusCreated {
		a.updated = 0
	}
	a.body = e.Encode(c.view(full))
	return a
}

// nothing answers the get of a queue or topic that does not exist (management-rest 3.3).
func (c *call) nothing() *answer {
	if w, ok := c.w.(*answered); ok {
		w.missing = c.target.kind != targetRoot
	}
	return &answer{status: http.StatusOK, contentType: atom.TypeFeed, body: atom.NothingHere(nothingID, c.now)}
}

// nothingID is the id of the feed of nothing; no client looks at it.
const nothingID = "0d5c1c2e-2f0f-4a3e-9f0b-1d8f3f5a7c11"
