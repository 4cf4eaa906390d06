package atom

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"minibus/internal/printable"
)

// Limits of a document. The largest real ones, a topic with 12 authorization rules or a filter with its parameters,
// are far below.
const (
	maxDepth    = 32
	maxElements = 20_000
)

// Element is a node of a parsed document. Names are local names: clients use all kinds of prefixes.
type Element struct {
	Name     string
	Children []*Element
	attrs    []xml.Attr
	text     []byte
}

// NewElement makes an element, for what comes in another form than XML.
func NewElement(name, text string, children ...*Element) *Element {
	return &Element{Name: name, text: []byte(text), Children: children}
}

// Parse reads a document. It refuses document type declarations, so that there are no entities to expand. charset is
// the content type's, or empty. Errors are of type *Error.
func Parse(body []byte, charset string) (*Element, error) {
	body, known, err := toUTF8(body, charset)
	if err != nil {
		return nil, malformed(err)
	}
	d := xml.NewDecoder(bytes.NewReader(body))
	d.CharsetReader = declared
	if known { // ignore the declaration
		d.CharsetReader = func(_ string, rest io.Reader) (io.Reader, error) { return rest, nil }
	}
	p := parser{}
	for {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = p.take(token)
		}
		if err != nil {
			return nil, malformed(err)
		}
	}
	switch {
	case len(p.open) > 0:
		return nil, malformed(fmt.Errorf("the element %s is not closed", clip(p.open[len(p.open)-1].Name)))
	case p.root == nil:
		return nil, malformed(errors.New("there is no element"))
	}
	return p.root, nil
}

func malformed(err error) error {
	if own := errors.Unwrap(err); own != nil { // encoding/xml put the name of the encoding before it
		err = own
	}
	return &Error{SubCode: badRequest, Text: "The XML of the request could not be read: " +
		printable.Clip(err.Error(), 400) + ". "}
}

// parser builds the tree. It reads raw tokens, because it ignores prefixes, and so must match end tags itself.
type parser struct {
	root     *Element
	open     []*Element
	prefixed []string // the open elements with their prefixes
	count    int
}

func (p *parser) take(token xml.Token) error {
	switch t := token.(type) {
	case xml.Directive:
		return errors.New("document type declarations are not allowed")
	case xml.StartElement:
		return p.start(t)
	case xml.EndElement:
		return p.end(t)
	case xml.CharData:
		if n := len(p.open); n > 0 {
			e := p.open[n-1]
			e.text = append(e.text, t...)
		} else if len(bytes.TrimSpace(t)) > 0 {
			return errors.New("there is text outside the element")
		}
	}
	return nil
}

func (p *parser) start(t xml.StartElement) error {
	p.count++
	switch {
	case p.count > maxElements:
		return fmt.Errorf("there are more than %d elements", maxElements)
	case len(p.open) >= maxDepth:
		return fmt.Errorf("elements are nested more than %d deep", maxDepth)
	case p.root != nil && len(p.open) == 0:
		return errors.New("there is more than one root element")
	}
	e := &Element{Name: t.Name.Local, attrs: t.Copy().Attr}
	if n := len(p.open); n > 0 {
		p.open[n-1].Children = append(p.open[n-1].Children, e)
	} else {
		p.root = e
	}
	p.open = append(p.open, e)
	p.prefixed = append(p.prefixed, t.Name.Space)
	return nil
}

func (p *parser) end(t xml.EndElement) error {
	n := len(p.open) - 1
	if n < 0 || p.open[n].Name != t.Name.Local || p.prefixed[n] != t.Name.Space {
		return fmt.Errorf("the end of %s does not belong to the open element", clip(t.Name.Local))
	}
	p.open, p.prefixed = p.open[:n], p.prefixed[:n]
	return nil
}

// Child returns the first child of that name, or nil. It may be called on nil.
func (e *Element) Child(name string) *Element {
	if e == nil {
		return nil
	}
	for _, c := range e.Children {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// index returns the position of the first child of that name, or -1.
func (e *Element) index(name string) int {
	for i, c := range e.Children {
		if c.Name == name {
			return i
		}
	}
	return -1
}

// Text returns the element's own text. It may be called on nil.
func (e *Element) Text() string {
	if e == nil {
		return ""
	}
	return string(e.text)
}

// typeName returns the local name in the element's type attribute, or "". Some clients put the attribute into a
// wrong namespace, so typeName ignores the namespace.
func (e *Element) typeName() string {
	for _, a := range e.attrs {
		if a.Name.Local == "type" {
			_, local, found := strings.Cut(a.Value, ":")
			if found {
				return local
			}
			return a.Value
		}
	}
	return ""
}

// isNil reports whether the element is marked as having no value (i:nil).
func (e *Element) isNil() bool {
	for _, a := range e.attrs {
		if a.Name.Local == "nil" && (a.Value == "true" || a.Value == "1") {
			return true
		}
	}
	return false
}

// Description returns the description in an entry: the element inside its content.
func (e *Element) Description() (*Element, error) {
	content := e.Child("content")
	if e.Name != "entry" || content == nil || len(content.Children) == 0 {
		return nil, &Error{SubCode: badRequest, Text: "The body of the request is not an ATOM entry with a " +
			"description inside its content. "}
	}
	return content.Children[0], nil
}
