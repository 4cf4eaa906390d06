package emulator

import (
	"fmt"
	"strings"
	"unsafe"
)

// Who says who receives. The front ends fill it in, and it never changes; the domain only repeats it to people.
type Who struct {
	Connection string // its id; of HTTP requests empty
	Link       string // its name
	Number     int64  // of the link among those of its connection
	Container  string // the client's name for itself
	Product    string // the client library
	Remote     string // address
}

// String names the client in a sentence.
func (w *Who) String() string {
	switch {
	case w == nil:
		return "a receiver inside the process"
	case w.Connection == "":
		return "an HTTP request from " + w.Remote
	}
	return fmt.Sprintf("link %d of connection %s (%s, %s)", w.Number, w.Connection, firstText(w.Container, w.Product, "no name"), w.Remote)
}

// Is reports whether a text names the client: as connection, connection and link number, link, container,
// client library or address, in letters of any case.
func (w *Who) Is(text string) bool {
	if w == nil || text == "" {
		return false
	}
	for _, name := range []string{w.Connection, fmt.Sprintf("%s/%d", w.Connection, w.Number), w.Link, w.Container, w.Product, w.Remote} {
		if name != "" && strings.EqualFold(name, text) {
			return true
		}
	}
	return false
}

// size is how many bytes of memory a client takes that nothing else names any more.
func (w *Who) size() int64 {
	size := int64(unsafe.Sizeof(*w))
	for _, s := range []string{w.Connection, w.Link, w.Container, w.Product, w.Remote} {
		size += textSize(s)
	}
	return size
}

// textSize is how many bytes a text takes of the heap, beside the string itself.
func textSize(s string) int64 { return int64(len(s)+15) &^ 15 }

// name is the shortest by which people know the client; empty if it is unknown.
func (w *Who) name() string {
	if w == nil {
		return ""
	}
	return firstText(w.Container, w.Connection, w.Remote)
}

func firstText(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// By returns a completion that says who asked for the operation; nil: the broker, or unknown.
func By(w *Who, c Completion) Completion {
	if w == nil {
		return c
	}
	return asked{c, w}
}

type asked struct {
	Completion
	who *Who
}

// Who says who asked for the operation.
func (a asked) Who() *Who { return a.who }

// whoOf returns who asked for the operation that ends with c, if c says that by a method Who() *Who.
func whoOf(c Completion) *Who {
	if asked, ok := c.(interface{ Who() *Who }); ok {
		return asked.Who()
	}
	return nil
}
