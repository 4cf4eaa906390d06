package mgmt

import (
	"context"
	"log/slog"
	"net"
	"net/http"
)

// administration serves the ATOM administration API and refuses what else there is under the paths of entities.
type administration struct {
	broker func() broker // nil until the process is ready
	access *handler      // checks tokens
	log    *slog.Logger
}

// ServeHTTP answers one request. The order of the checks is the service's: token and rights, values of the body, existence,
// what can't be changed.
func (a *administration) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &call{log: a.log, access: a.access, w: w, r: r, query: r.URL.Query(), target: parseTarget(r.URL.EscapedPath())}
	c.broker = a.broker()
	if c.broker == nil {
		errNotReady.answer(c).write(w)
		return
	}
	c.now, c.limits = c.broker.Now(), c.broker.Limits()
	result, err := c.handle()
	if err != nil {
		result = problemOf(err).answer(c)
	}
	result.write(w)
}

// handle finds the operation.
func (c *call) handle() (*answer, error) {
	if c.isRuntime() {
		return nil, problemf(http.StatusNotImplemented, "Sending and receiving over HTTP is not served by this version of Minibus; use AMQP. ")
	}
	method := c.r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	if err := c.permit(method); err != nil {
		return nil, err
	}
	if o := operations[c.target.kind][method]; o != nil {
		return o(c)
	}
	return nil, badVerb(c.r.Method)
}

// operations by kind of path and method.
var operations = map[targetKind]map[string]func(*call) (*answer, error){
	targetRoot: {
		http.MethodGet: func(c *call) (*answer, error) { return c.nothing(), nil },
		http.MethodPut: func(*call) (*answer, error) { return nil, badRequest("The name of the entity is empty.") },
	},
	targetNamespace: {http.MethodGet: (*call).getNamespace},
	targetQueues:    {http.MethodGet: (*call).listQueues},
	targetTopics:    {http.MethodGet: (*call).listTopics},
	targetEntity: {
		http.MethodGet: (*call).getEntity, http.MethodPut: (*call).putEntity, http.MethodDelete: (*call).deleteEntity,
	},
	targetSubscriptions: {http.MethodGet: (*call).listSubscriptions},
	targetSubscription: {
		http.MethodGet: (*call).getSubscription, http.MethodPut: (*call).putSubscription, http.MethodDelete: (*call).deleteSubscription,
	},
	targetRules: {
		http.MethodGet: (*call).listRules,
		http.MethodPut: (*call).putRule, // Go's client puts a rule without name here: its name is in the body
	},
	targetRule: {
		http.MethodGet: (*call).getRule, http.MethodPut: (*call).putRule, http.MethodDelete: (*call).deleteRule,
	},
}

// isRuntime reports whether the request is one of the runtime API rather than about an entity whose name ends in "messages".
func (c *call) isRuntime() bool {
	m := c.target.messages
	switch {
	case m == nil:
		return false
	case c.r.Method == http.MethodPost:
		return true
	case c.r.Method == http.MethodDelete:
		return len(m) > 1
	case c.r.Method == http.MethodPut:
		return len(m) == 3 && c.r.ContentLength == 0
	}
	return false
}

// secureKey is the key of a connection's context value: whether it came through TLS.
type secureKey struct{}

// connContext notes on a connection whether its bytes arrived encrypted. The listener in front has undone TLS, so net/http
// can't know.
func connContext(ctx context.Context, c net.Conn) context.Context {
	t, ok := c.(interface{ IsTLS() bool })
	return context.WithValue(ctx, secureKey{}, ok && t.IsTLS())
}

func isSecure(r *http.Request) bool {
	secure, _ := r.Context().Value(secureKey{}).(bool)
	return secure || r.TLS != nil
}
