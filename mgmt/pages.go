package mgmt

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"minibus/internal/hostname"
	"minibus/internal/loglimit"
	"minibus/internal/sas"
)

// pages keeps web pages out. A browser lets any page send requests to this machine, and by default every client may do everything
// here; so a request is refused, before any route sees it, if it comes from a page of another origin, or if a browser may have
// sent it for a name that could be anybody's: the owner of a name can let it mean this machine after the page has been loaded,
// and the page is of the same origin then (DNS rebinding). What is not a browser says nothing of pages.
func (h *handler) pages(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p := h.refusePage(r); p != nil {
			h.answerPage(w, r, p)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// refusePage returns the answer to a request that a page of a stranger has sent, or may have sent; else nil.
func (h *handler) refusePage(r *http.Request) *problem {
	if !h.isInvited(r) {
		if from := foreignPage(r); from != "" {
			return problemf(http.StatusForbidden, "A web page of another origin sent this request (%s), and such pages are not allowed to do anything here. "+
				"If you followed a link, enter its address into the address bar. If the page is yours and connects over WebSockets, name its "+
				"origin in --allowed-origins. ", sas.Clip(from))
		}
	}
	if (showsBrowser(r) || asksForWebSocket(r)) && !h.isOurs(hostOf(r.Host)) {
		return problemf(http.StatusForbidden, "The host '%s' may be a name of this Minibus, or one that a web page uses to reach it (DNS rebinding). "+
			"Use localhost or an address, or name the host in --tls-names. ", sas.Clip(hostOf(r.Host)))
	}
	return nil
}

// answerPage answers a refused request and ends its connection, which may have kept the names of its headers for a send: they
// would be taken for those of the next one.
func (h *handler) answerPage(w http.ResponseWriter, r *http.Request, p *problem) {
	if h.options.Refusals.Take(loglimit.Page) {
		h.options.Logger.Warn("web page refused", "method", r.Method, "path", sas.Clip(r.URL.Path), "host", sas.Clip(r.Host),
			"remote", r.RemoteAddr, "reason", strings.TrimSpace(p.detail))
	}
	w.Header().Set("Connection", "close")
	h.refuse(w, r, p)
}

// refuse answers a request that reaches no API.
func (h *handler) refuse(w http.ResponseWriter, r *http.Request, p *problem) {
	c := &call{log: h.options.Logger, w: w, r: r, target: parseTarget(r.URL.EscapedPath()), now: time.Now().UnixMilli()}
	_ = p.answer(c).write(w) // the client is gone if this fails
}

// isInvited reports whether a request comes from a page that may connect over WebSockets although it is of another origin. Over
// HTTP such a page could read nothing: as in the cloud, answers do not say that pages may read them (CORS).
func (h *handler) isInvited(r *http.Request) bool {
	origins := r.Header["Origin"]
	return len(origins) == 1 && asksForWebSocket(r) && slices.ContainsFunc(h.options.Origins, func(o string) bool {
		return strings.EqualFold(o, origins[0])
	})
}

// foreignPage returns the header that tells that a page of another origin has sent a request, or "". Browsers send Origin with
// whatever is not GET or HEAD, with WebSockets and with scripts' requests to other origins; and Sec-Fetch-Site with everything,
// where the connection is secure or the host is this machine. No script can change either.
func foreignPage(r *http.Request) string {
	for _, origin := range r.Header["Origin"] {
		if !isOwnOrigin(origin, r.Host) {
			return "Origin: " + origin
		}
	}
	for _, site := range r.Header["Sec-Fetch-Site"] {
		if site != "same-origin" && site != "none" {
			return "Sec-Fetch-Site: " + site
		}
	}
	return ""
}

// isOwnOrigin compares an origin with the host that a request names, port included. The scheme is left alone: clients of Python
// call themselves http over TLS too, and browsers tell of the difference in Sec-Fetch-Site.
func isOwnOrigin(origin, host string) bool {
	u, err := url.Parse(origin)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && strings.EqualFold(u.Host, host)
}

// showsBrowser reports whether a browser may have sent a request. The languages count because a script can't leave them out, while
// it can call itself by another name.
func showsBrowser(r *http.Request) bool {
	for _, name := range []string{"Origin", "Sec-Fetch-Site", "Accept-Language"} {
		if _, ok := r.Header[name]; ok {
			return true
		}
	}
	return strings.HasPrefix(r.UserAgent(), "Mozilla/")
}

func asksForWebSocket(r *http.Request) bool {
	return strings.Contains(strings.ToLower(strings.Join(r.Header["Upgrade"], ",")), "websocket")
}

// isOurs reports whether no stranger can give a host name an address: it is one already, can only be local, or is known to be ours.
func (h *handler) isOurs(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return hostname.IsLocal(host) || host != "" && h.options.KnownHost != nil && h.options.KnownHost(host)
}

// hostOf takes the port off a Host header, the brackets off an address of IPv6, and the dot off the end of a full name.
func hostOf(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}
