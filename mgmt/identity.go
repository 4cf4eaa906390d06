package mgmt

import (
	"net/http"
	"net/netip"

	"github.com/gorilla/mux"

	"minibus/internal/hostname"
	"minibus/internal/sas"
	"minibus/mgmt/identity"
)

func isIdentity(r *http.Request, _ *mux.RouteMatch) bool { return identity.Wants(r) }

// identify leads a request to the service that gives out tokens. pages has refused those of other origins' pages; here
// no browser gets more than the page for device codes, so that no page can make one fetch a token. Neither does anybody
// under a name that is not ours; and a managed identity is for the programs of this machine and its containers only.
func (h *handler) identify(w http.ResponseWriter, r *http.Request) {
	if p := h.refuseIdentity(r); p != nil {
		h.answerPage(w, r, p)
		return
	}
	if h.broker() == nil {
		h.refuse(w, r, errNotReady)
		return
	}
	if identity.IsPage(r) {
		disarm(w.Header())
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("X-Frame-Options", "DENY")
	}
	h.options.Identity.Serve(w, r, h.request(w, r).base())
}

func (h *handler) refuseIdentity(r *http.Request) *problem {
	switch {
	case !h.isOurs(hostOf(r.Host)):
		return problemf(http.StatusForbidden, "The host '%s' may be a name of this Minibus, or one by which somebody "+
			"else leads clients here. Use localhost or an address, or name the host in --tls-names. ",
			sas.Clip(hostOf(r.Host)))
	case isBrowser(r) && !identity.IsPage(r):
		return problemf(http.StatusForbidden, "A browser sent this request, and tokens are for programs. ")
	case identity.IsManaged(r) && isForwarded(r):
		return problemf(http.StatusForbidden, "A proxy sent this request, and a managed identity is for the programs "+
			"of this machine and its containers. ")
	case identity.IsManaged(r) && !isNear(r.RemoteAddr):
		return problemf(http.StatusForbidden, "A managed identity is for the programs of this machine and its "+
			"containers. ")
	}
	return nil
}

// isForwarded reports whether a proxy has passed a request on for somebody else.
func isForwarded(r *http.Request) bool {
	for _, name := range []string{
		"X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "Forwarded", "Via", "X-Real-Ip", "Cf-Connecting-Ip",
	} {
		if _, ok := r.Header[name]; ok {
			return true
		}
	}
	return false
}

// isNear reports whether a client is on this machine or in a private network; one in memory has no address.
func isNear(remote string) bool {
	at, err := netip.ParseAddrPort(remote)
	return err != nil || hostname.IsLocal(at.Addr().Unmap().WithZone("").String())
}
