package amqpserver

import (
	"net/url"
	"strings"

	"minibus/emulator"
)

// nodeKind tells what stands behind an address.
type nodeKind uint8

const (
	nodeEntity      nodeKind = iota // messages of a queue or one of its sub-queues
	nodeManagement                  // its request/response node
	nodeCBS                         // claims based security of the connection
	nodeCoordinator                 // of transactions; it has no address
)

// The fixed parts of addresses, compared without case (amqp-data-plane 3.1).
const (
	addressCBS         = "$cbs"
	suffixManagement   = "$management"
	suffixDeadLetter   = "$deadletterqueue"
	suffixTransferDead = "$transfer/$deadletterqueue"
)

// node is a parsed link address.
type node struct {
	kind nodeKind
	path string // of the entity, in the client's spelling
	sub  emulator.SubQueue
}

// parseAddress reads a link address as the SDKs write it: a bare path, a path with a leading slash and
// percent-encoding (.NET), or a whole URI with any host (Python), in any case (amqp-data-plane 3.1).
func parseAddress(address string) node {
	path := stripAuthority(address)
	if decoded, err := url.PathUnescape(path); err == nil {
		path = decoded
	}
	path = strings.Trim(path, "/")
	if strings.EqualFold(path, addressCBS) {
		return node{kind: nodeCBS}
	}
	n := node{kind: nodeEntity, path: path}
	if rest, ok := cutSuffixFold(n.path, suffixManagement); ok {
		n.kind, n.path = nodeManagement, rest
	}
	if rest, ok := cutSuffixFold(n.path, suffixTransferDead); ok {
		n.sub, n.path = emulator.TransferDeadLetter, rest
	} else if rest, ok := cutSuffixFold(n.path, suffixDeadLetter); ok {
		n.sub, n.path = emulator.DeadLetter, rest
	}
	return n
}

// stripAuthority removes scheme, host and port.
func stripAuthority(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		return address
	}
	switch strings.ToLower(scheme) {
	case "amqp", "amqps", "sb", "http", "https":
	default:
		return address
	}
	_, path, _ := strings.Cut(rest, "/")
	return path
}

// cutSuffixFold removes a last path segment, or several, and the slash in front of it.
func cutSuffixFold(path, suffix string) (string, bool) {
	at := len(path) - len(suffix)
	if at < 0 || !strings.EqualFold(path[at:], suffix) {
		return path, false
	}
	if at == 0 {
		return "", true
	}
	if path[at-1] != '/' {
		return path, false
	}
	return strings.TrimRight(path[:at], "/"), true
}

// key identifies a request/response node: links that give the same key belong together.
func (n node) key() string {
	switch n.kind {
	case nodeCBS, nodeCoordinator:
		return n.String()
	}
	return strings.ToLower(n.path) + n.suffix() + "/" + suffixManagement
}

// suffix names the sub-queue as a path.
func (n node) suffix() string {
	switch n.sub {
	case emulator.DeadLetter:
		return "/" + suffixDeadLetter
	case emulator.TransferDeadLetter:
		return "/" + suffixTransferDead
	}
	return ""
}

// String returns the address in our own spelling, for logs.
func (n node) String() string {
	switch n.kind {
	case nodeCBS:
		return addressCBS
	case nodeCoordinator:
		return "coordinator"
	case nodeManagement:
		return n.path + n.suffix() + "/" + suffixManagement
	}
	return n.path + n.suffix()
}
