package emulator

import (
	"fmt"
	"strings"
	"unsafe"
)

// Client names a client of the broker, for people. The front ends fill it in, and it never changes.
type Client struct {
	Connection string // its id; of HTTP requests empty
	Link       string // its name
	Number     int64  // of the link among those of its connection
	Container  string // the client's name for itself
	Product    string // the client library
	Remote     string // address
}

// String names the client in a sentence.
func (c *Client) String() string {
	switch {
	case c == nil:
		return "a receiver inside the process"
	case c.Connection == "":
		return "an HTTP request from " + c.Remote
	}
	return fmt.Sprintf("link %d of connection %s (%s, %s)", c.Number, c.Connection,
		firstText(c.Container, c.Product, "no name"), c.Remote)
}

// Is reports whether a text names the client: by its connection, connection and link number, link, container,
// client library or address, case-insensitively.
func (c *Client) Is(text string) bool {
	if c == nil || text == "" {
		return false
	}
	for _, name := range []string{c.Connection, fmt.Sprintf("%s/%d", c.Connection, c.Number), c.Link, c.Container,
		c.Product, c.Remote} {
		if name != "" && strings.EqualFold(name, text) {
			return true
		}
	}
	return false
}

// size returns how many bytes of memory the Client takes.
func (c *Client) size() int64 {
	size := int64(unsafe.Sizeof(*c))
	for _, s := range []string{c.Connection, c.Link, c.Container, c.Product, c.Remote} {
		size += textSize(s)
	}
	return size
}

// textSize is how many bytes a text takes of the heap, beside the string itself.
func textSize(s string) int64 { return int64(len(s)+15) &^ 15 }

// name returns the shortest name by which people know the client; empty if it is unknown.
func (c *Client) name() string {
	if c == nil {
		return ""
	}
	return firstText(c.Container, c.Connection, c.Remote)
}

func firstText(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// By returns a completion that names the client that asked for the operation; nil: the broker, or unknown.
func By(client *Client, completion Completion) Completion {
	if client == nil {
		return completion
	}
	return asked{completion, client}
}

type asked struct {
	Completion
	client *Client
}

// Client returns who asked for the operation.
func (a asked) Client() *Client { return a.client }

// clientOf returns who asked for the operation that ends with completion, nil if it has no method Client() *Client.
func clientOf(completion Completion) *Client {
	if asked, ok := completion.(interface{ Client() *Client }); ok {
		return asked.Client()
	}
	return nil
}
