package mgmt

import (
	"net"
	"net/http"
	"time"

	"minibus/emulator"
	"minibus/internal/sas"
	"minibus/mgmt/atom"
)

// request makes the request that a client sent. Its namespace is not known yet.
func (h *handler) request(w http.ResponseWriter, r *http.Request) *request {
	return &request{
		w:      w,
		r:      r,
		log:    h.options.Logger,
		target: parseTarget(r.URL.EscapedPath()),
		query:  r.URL.Query(),
		now:    time.Now().UnixMilli(),
	}
}

// broker returns the namespaces once the process is ready, else nil.
func (h *handler) broker() *emulator.Broker {
	if h.options.Broker == nil || !h.options.Ready() {
		return nil
	}
	return h.options.Broker()
}

// find gives a request the namespace that it means, by its host or by the port at which it arrived. An error is a
// *problem.
func (h *handler) find(x *request) error {
	b := h.broker()
	if b == nil {
		return errNotReady
	}
	ns, err := b.Find(x.r.Host, localPort(x.r))
	if err != nil {
		return problemf(http.StatusNotFound, "SubCode=40400. %s Correct the host name in the connection string, or "+
			"create the namespace: in Config.json, or with POST /$minibus/v1/namespaces. ", sas.Clip(err.Error()))
	}
	x.ns, x.now = ns, ns.Now()
	return nil
}

// useDefault gives a request the default namespace, whatever its host is.
func (h *handler) useDefault(x *request) error {
	b := h.broker()
	if b == nil {
		return errNotReady
	}
	x.ns = b.Default()
	return nil
}

// means reports whether a host, such as that of a token's resource, means the namespace of a request where the
// request arrived.
func (h *handler) means(x *request, host string) bool {
	ns, err := h.broker().Find(host, localPort(x.r))
	return err == nil && ns == x.ns
}

// checkTargets fails unless the targets of a description exist in the request's namespace, or are the entity itself,
// whose path is own. Addresses that the entity has in its old settings pass with any host: a client that updates
// other settings sends them back.
func (c *call) checkTargets(d *atom.SharedDescription, own string, old emulator.QueueOptions) error {
	for _, host := range d.NewHosts(old) {
		if !c.may.access.means(c.request, host) {
			return problemf(http.StatusBadRequest, "%sThe address names the host '%s', which is not the namespace "+
				"'%s'. Forward to an entity of the same namespace, by its path alone or with the host '%s'. ",
				errNoTarget.detail, sas.Clip(host), c.ns.Name(), sas.Clip(c.r.Host))
		}
	}
	return c.namespace.checkTargets(d.Targets(), own)
}

// known refuses requests that mean a namespace which does not exist. While the process starts it lets all pass.
func (h *handler) known(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if x := h.request(w, r); h.broker() != nil {
			if err := h.find(x); err != nil {
				_ = problemOf(err).answer(x).write(w) // the client is gone if this fails
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// localPort returns the port at which a request arrived; 0 for a connection in memory.
func localPort(r *http.Request) int {
	if address, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok {
		return address.Port
	}
	return 0
}
