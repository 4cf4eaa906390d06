package control

import "net/http"

// TypeOff is the type of the problem document that answers all requests while the API is off.
const TypeOff = "urn:minibus:control-off"

// Off answers the requests below [Prefix] of a Minibus that has no control API.
func Off(w http.ResponseWriter, _ *http.Request) {
	p := newError(http.StatusNotFound, nil, "This Minibus has no control API: it was started with --control off or "+
		"MINIBUS_CONTROL=off. Start it without that to use the API, and what needs it.")
	p.Type = TypeOff
	write(w, p)
}
