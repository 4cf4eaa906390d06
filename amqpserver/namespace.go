package amqpserver

import (
	"fmt"
	"net"
	"strings"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/sas"
)

// serverName returns the host that a client has dialled, as far as TLS or the request for a WebSocket says it.
func serverName(nc net.Conn) string {
	if n, ok := nc.(interface{ ServerName() string }); ok {
		return n.ServerName()
	}
	return ""
}

// localPort returns the port at which a connection arrived; 0: none.
func localPort(nc net.Conn) int {
	if a, ok := nc.LocalAddr().(*net.TCPAddr); ok {
		return a.Port
	}
	return 0
}

// enterNamespace decides to which namespace the connection belongs, and counts it there.
func (c *conn) enterNamespace() error {
	ns, err := c.srv.broker.Find(c.host, localPort(c.nc))
	if err != nil {
		return c.noNamespace()
	}
	c.ns = ns
	if len(c.srv.broker.Namespaces()) > 1 {
		c.log.Logger = c.log.With("namespace", ns.Name())
		c.trace.conn += "@" + ns.Name()
	}
	if c.tokens.checked() {
		c.tokens.ring = c.srv.options.Access(ns)
	}
	if !c.tokens.keyCounts(ns) {
		return connErrorf(amqp.CondUnauthorized,
			"The user name and password are not a policy and key of the namespace '%s'.", ns.Name())
	}
	if err := c.tokens.takeJWT(); err != nil {
		return err
	}
	return c.srv.enter(c)
}

// maxListed is how many namespaces an error names.
const maxListed = 10

// noNamespace says that the client's host names none. Where tokens are checked it does not tell which there are.
func (c *conn) noNamespace() error {
	text := fmt.Sprintf("The host '%s' names no namespace.", sas.Clip(c.host))
	if !c.tokens.checked() {
		var names []string
		for _, ns := range c.srv.broker.Namespaces() {
			names = append(names, "'"+ns.Name()+"'")
		}
		if n := len(names) - maxListed; n > 0 {
			names = append(names[:maxListed], fmt.Sprintf("%d more", n))
		}
		text += " There are " + strings.Join(names, ", ") + "."
	}
	return connErrorf(amqp.CondNotFound, "%s Correct the host name in the connection string, or create the namespace: "+
		"in Config.json, or with POST /$minibus/v1/namespaces.", text)
}

// foreign reports whether a host that the client names later, in an audience, a token or an address, means another
// namespace: a connection to that host, at the same port, would belong to that one.
func (c *conn) foreign(host string) bool {
	if host == "" || strings.EqualFold(host, c.host) {
		return false
	}
	ns, err := c.srv.broker.Find(host, localPort(c.nc))
	return err != nil || ns != c.ns
}

// checkAudience refuses a token for another namespace. The text does not tell whether that exists.
func (c *conn) checkAudience(host, token string) error {
	if t, err := sas.ParseToken(token); !c.foreign(host) && (err != nil || !c.foreign(t.Host())) {
		return nil
	}
	return fmt.Errorf("InvalidAudience: The token is for another namespace than that of the connection, '%s'. "+
		"Connect to the host that the token names", c.ns.Name())
}

// checkAddress refuses the address of an entity in another namespace.
func (c *conn) checkAddress(n node) error {
	if !c.foreign(n.host) {
		return nil
	}
	return linkErrorf(amqp.CondNotFound, "The address names the host '%s', and the connection belongs to the "+
		"namespace '%s'. Connect to that host.", sas.Clip(n.host), c.ns.Name())
}

// openNamespace is a namespace with open connections.
type openNamespace struct {
	conns   int           // that count against the quota (QUO-12)
	unwatch func()        // ends the watch of the faults that are injected
	empty   chan struct{} // closed when there are none left
}

// enter counts a connection in its namespace. It fails if that has just been deleted, or has reached the limit of its
// profile (QUO-12).
func (s *Server) enter(c *conn) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-c.ns.Deleted():
		return errNamespaceDeleted(c.ns)
	default:
	}
	t := s.namespaces[c.ns]
	if t == nil {
		t = &openNamespace{empty: make(chan struct{})}
	}
	if most := c.ns.Profile().Limits().Connections; most > 0 && t.conns >= most {
		return connErrorf(amqp.CondResourceLimit, "ConnectionsQuotaExceeded for namespace: %s. "+
			"The maximum of %d connections has been reached.", c.ns.Name(), most)
	}
	if t.conns++; t.conns == 1 {
		s.namespaces[c.ns] = t
		ns := c.ns
		t.unwatch = ns.Faults().Watch(func(fault *emulator.Fault) { s.faultsChanged(ns, fault) })
		if c.ns != s.broker.Default() { // which can't be deleted
			s.ended.Go(func() { s.watch(c.ns, t) })
		}
	}
	c.counted = t
	return nil
}

// leave takes a connection out of the count. The caller holds mu.
func (s *Server) leave(c *conn) {
	if c.counted == nil {
		return
	}
	if c.counted.conns--; c.counted.conns == 0 {
		delete(s.namespaces, c.ns)
		c.counted.unwatch()
		close(c.counted.empty)
	}
}

// watch ends the connections of a namespace when it is deleted. It returns when there are none.
func (s *Server) watch(ns *emulator.Namespace, t *openNamespace) {
	select {
	case <-t.empty:
		return
	case <-ns.Deleted():
	}
	for _, c := range s.openConns() {
		c.post(func() {
			if c.ns == ns && c.state == stateOpen {
				c.close(errNamespaceDeleted(ns))
			}
		})
	}
}

func errNamespaceDeleted(ns *emulator.Namespace) error {
	return connErrorf(amqp.CondForced, "The namespace '%s' was deleted.", ns.Name())
}
