package amqpserver

import (
	"net/url"
	"strings"

	"minibus/emulator"
	"minibus/internal/entitypath"
)

// nodeKind says what kind of node an address names.
type nodeKind uint8

const (
	nodeEntity      nodeKind = iota // messages of a queue or one of its sub-queues
	nodeManagement                  // its request/response node
	nodeCBS                         // claims based security of the connection
	nodeCoordinator                 // of transactions; it has no address
	nodeRelay                       // to whatever a message names; it has no address either
)

// addressCBS is the node of claims based security, compared without case (amqp-data-plane 3.1).
const addressCBS = "$cbs"

// node holds a parsed link address.
type node struct {
	kind nodeKind
	host string // with its port, if there is one; empty: the address is a path
	path string // of the entity, in the client's spelling until it is found
	sub  emulator.SubQueue
}

// parseAddress reads a link address as the SDKs write it: a bare path, a path with a leading slash and
// percent-encoding (.NET), or a whole URI with any host (Python), in any case (amqp-data-plane 3.1).
func parseAddress(address string) node {
	host, path := splitAuthority(address)
	if decoded, err := url.PathUnescape(path); err == nil {
		path = decoded
	}
	path = strings.Trim(path, "/")
	if strings.EqualFold(path, addressCBS) {
		return node{kind: nodeCBS, host: host}
	}
	n := node{kind: nodeEntity, host: host}
	path, managed := entitypath.CutManagement(path)
	if managed {
		n.kind = nodeManagement
	}
	n.path, n.sub = entitypath.CutSubQueue(path)
	return n
}

func splitAuthority(address string) (host, path string) {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		return "", address
	}
	switch strings.ToLower(scheme) {
	case "amqp", "amqps", "sb", "http", "https":
	default:
		return "", address
	}
	host, path, _ = strings.Cut(rest, "/")
	return host, path
}

// key identifies a request/response node: links with the same key belong together.
func (n node) key() string {
	switch n.kind {
	case nodeCBS, nodeCoordinator, nodeRelay:
		return n.String()
	}
	return entitypath.Management(n.sub.Join(strings.ToLower(n.path)))
}

// String returns the address in our own spelling, for logs.
func (n node) String() string {
	switch n.kind {
	case nodeCBS:
		return addressCBS
	case nodeCoordinator:
		return "coordinator"
	case nodeRelay:
		return "anonymous relay"
	case nodeManagement:
		return entitypath.Management(n.sub.Join(n.path))
	}
	return n.sub.Join(n.path)
}
