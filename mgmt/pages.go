package mgmt

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"minibus/internal/hostname"
	"minibus/internal/loglimit"
	"minibus/internal/sas"
)

// pages keeps web pages out. A browser lets any page send requests to this machine, and by default every client may
// do everything here. So pages refuses a request, before any route sees it, if it comes from a page of another
// origin, or if a browser may have sent it to a host name that somebody else may own: the owner can point the name at
// this machine after the page has been loaded, and the page then has the same origin (DNS rebinding). Programs other
// than browsers send none of these headers.
func (h *handler) pages(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p := h.refusePage(r); p != nil {
			h.answerPage(w, r, p)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// refusePage returns the answer to a request that a page of another origin has sent, or may have sent; else nil.
func (h *handler) refusePage(r *http.Request) *problem {
	if !h.isInvited(r) {
		if from := foreignPage(r); from != "" {
			return problemf(http.StatusForbidden, "A web page of another origin sent this request (%s), and such "+
				"pages are not allowed to do anything here. If you followed a link, enter its address into the "+
				"address bar. If the page is yours and connects over WebSockets, name its origin in "+
				"--allowed-origins. ", sas.Clip(from))
		}
	}
	if (showsBrowser(r) || asksForWebSocket(r)) && !h.isOurs(hostOf(r.Host)) {
		return problemf(http.StatusForbidden, "The host '%s' may be a name of this Minibus, or one that a web page "+
			"uses to reach it (DNS rebinding). Use localhost or an address, or name the host in --tls-names. "+
			"", sas.Clip(hostOf(r.Host)))
	}
	return nil
}

// answerPage answers a refused request and ends its connection, which may have kept the request's header names: the
// next send would get them.
func (h *handler) answerPage(w http.ResponseWriter, r *http.Request, p *problem) {
	if h.options.Refusals.Take(loglimit.Page) {
		h.options.Logger.Warn("web page refused", "method", r.Method, "path", sas.Clip(r.URL.Path), "host",
			sas.Clip(r.Host),
			"remote", r.RemoteAddr, "reason", strings.TrimSpace(p.detail))
	}
	w.Header().Set("Connection", "close")
	h.refuse(w, r, p)
}

// refuse answers a request that reaches no API.
func (h *handler) refuse(w http.ResponseWriter, r *http.Request, p *problem) {
	_ = p.answer(h.request(w, r)).write(w) // the client is gone if this fails
}

// isInvited reports whether a request opens a WebSocket from a page of an allowed origin. Over
// HTTP such a page could read nothing: as in the cloud, answers have no CORS headers.
func (h *handler) isInvited(r *http.Request) bool {
	origins := r.Header["Origin"]
	return len(origins) == 1 && asksForWebSocket(r) && slices.ContainsFunc(h.options.Origins, func(o string) bool {
		return strings.EqualFold(o, origins[0])
	})
}

// foreignPage returns the header that shows that a page of another origin has sent a request, or "". Browsers send
// Origin with every method but GET and HEAD, with WebSockets and with scripts' requests to other origins. They send
// Sec-Fetch-Site with every request over TLS or to this machine. No script can change either.
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

// isOwnOrigin compares an origin with the request's host, port included. It ignores the scheme: Python clients
// send http over TLS too, and browsers report the difference in Sec-Fetch-Site.
func isOwnOrigin(origin, host string) bool {
	u, err := url.Parse(origin)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && strings.EqualFold(u.Host, host)
}

// showsBrowser reports whether a browser may have sent a request. It looks at Accept-Language because a script can't
// remove that, while it may change the User-Agent.
func showsBrowser(r *http.Request) bool {
	for _, name := range []string{"Origin", "Sec-Fetch-Site", "Accept-Language"} {
		if _, ok := r.Header[name]; ok {
			return true
		}
	}
	return strings.HasPrefix(r.UserAgent(), "Mozilla/")
}

// isBrowser reports whether a browser has sent a request that changes something. Browsers send Origin with it, and
// old ones at least both of the others with what they open as a page. Programs that speak for a browser, such as
// fetch of Node.js and PowerShell, send one of those, so showsBrowser holds for them too.
func isBrowser(r *http.Request) bool {
	_, origin := r.Header["Origin"]
	_, site := r.Header["Sec-Fetch-Site"]
	_, language := r.Header["Accept-Language"]
	return origin || site || language && strings.HasPrefix(r.UserAgent(), "Mozilla/")
}

func asksForWebSocket(r *http.Request) bool {
	return strings.Contains(strings.ToLower(strings.Join(r.Header["Upgrade"], ",")), "websocket")
}

// isOurs reports whether nobody else can own a host name: it is an address, local by its form, or known to be ours.
func (h *handler) isOurs(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return hostname.IsLocal(host) || host != "" && h.options.KnownHost != nil && h.options.KnownHost(host)
}

// hostOf returns the host of a Host header in lower case, without port, IPv6 brackets and trailing dot.
func hostOf(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}
