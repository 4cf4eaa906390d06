package mgmt

import (
	"net/http"
	"strconv"

	"minibus/emulator"
	"minibus/internal/dotnet"
	"minibus/mgmt/atom"
)

// call is one request to the administration API.
type call struct {
	*request
	namespace atomNamespace
	profile   emulator.Profile
	may       permission
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

func (c *call) view(full bool) atom.View {
	return atom.View{Version: atom.Version(c.version()), Profile: c.profile, Full: full,
		Enriched: c.option("enrich") != ""}
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
