package mgmt

import (
	"net/http"

	"minibus/mgmt/arm"

	"github.com/gorilla/mux"
)

func isResourceManager(r *http.Request, _ *mux.RouteMatch) bool { return arm.Wanted(r) }

// resourceManager answers a request to Azure Resource Manager. It is about the whole process, so the host does not
// matter. Everybody may ask where things are; all else needs a token.
func (h *handler) resourceManager(w http.ResponseWriter, r *http.Request) {
	x := h.request(w, r)
	switch {
	case h.options.ARM == nil:
		arm.Off(w, r)
	case r.URL.Path == arm.EndpointsPath:
		arm.ServeEndpoints(w, r, x.base())
	case arm.IsGraph(r):
		arm.NoGraph(w, r)
	case h.broker() == nil:
		arm.Refuse(w, r, &arm.Error{Status: http.StatusServiceUnavailable, Code: "ServiceUnavailable",
			Message: unhealthyText})
	default:
		principal, refusal := h.bearer(r)
		if refusal != "" {
			arm.Unauthorized(w, r, x.base(), refusal)
			return
		}
		w.Header().Del("Connection") // see closing
		h.options.ARM.Serve(w, r, x.base(), principal)
	}
}

// bearer returns whose web token a request to Resource Manager shows, or why it does not count. Keys of namespaces are
// no such tokens: where tokens are checked, only those of Minibus's own issuer count.
func (h *handler) bearer(r *http.Request) (principal, refusal string) {
	if !isBearer(r.Header.Get("Authorization")) {
		return "", "Authentication failed. The 'Authorization' header is missing or has no bearer token. Log in to " +
			"this Minibus with az, or give the client a credential; a key of a namespace opens nothing here."
	}
	if h.options.Principal != nil {
		principal, err := h.options.Principal(r)
		if err != nil {
			return "", "Authentication failed. " + err.Error()
		}
		return principal, ""
	}
	if h.options.Access != nil {
		return "", "Authentication failed. With --auth sas no token opens Resource Manager yet: use the " +
			"administration API with a key, or start with --auth any."
	}
	return "", ""
}
