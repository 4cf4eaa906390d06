package mgmt

import (
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"os"

	"minibus/emulator"
	"minibus/mgmt/atom"
)

// maxDescription is the largest body of an administration request, in bytes. A filter has a thousand characters; an
// entity with every setting stays far below.
const maxDescription = 1 << 20

// request is a request to one of the APIs, with the entity or list that it names.
type request struct {
	w      http.ResponseWriter
	r      *http.Request
	log    *slog.Logger
	ns     *emulator.Namespace // that the request means; nil: it is refused
	target target
	query  url.Values
	now    int64 // ms since the Unix epoch, by the namespace's clock once that is known
}

// version returns the api-version as the client sent it, "" without one.
func (x *request) version() string { return x.query.Get("api-version") }

// isUpdate reports whether a put updates an entity rather than creates one. All clients send "*"; any other tag means
// update too.
func (x *request) isUpdate() bool { return x.r.Header.Get("If-Match") != "" }

// base returns the scheme and host by which the client addresses this server. They differ from client to client, so
// answers use each client's own.
func (x *request) base() string {
	scheme := "http"
	if isSecure(x.r) {
		scheme = "https"
	}
	return scheme + "://" + x.r.Host
}

// address returns the request's own address.
func (x *request) address() string { return x.base() + x.pathAndQuery() }

func (x *request) pathAndQuery() string {
	s := x.r.URL.EscapedPath()
	if x.r.URL.RawQuery != "" {
		s += "?" + x.r.URL.RawQuery
	}
	return s
}

// description reads the description in the body.
func (x *request) description() (*atom.Element, error) {
	body, err := io.ReadAll(http.MaxBytesReader(x.w, x.r.Body, maxDescription))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, problemf(http.StatusRequestEntityTooLarge,
			"SubCode=40000. The body of the request has more than %d bytes. ", tooLarge.Limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, problemf(http.StatusRequestTimeout, "SubCode=40800. The body of the request did not arrive in "+
			"time. ")
	case err != nil:
		return nil, badRequest("The body of the request could not be read: " + err.Error() + ".")
	}
	_, parameters, _ := mime.ParseMediaType(x.r.Header.Get("Content-Type")) // not checked (management-rest 1.4)
	root, err := atom.Parse(body, parameters["charset"])
	if err != nil {
		return nil, err
	}
	return root.Description()
}
