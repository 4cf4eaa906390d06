package jsontree

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"minibus/internal/printable"
)

// Kind is the JSON type of a node.
type Kind uint8

// The kinds, null first: it is the kind of the zero node.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// Position is a place in the file, both counted from 1; columns count characters, not bytes.
type Position struct{ Line, Column int }

// Node is one JSON value with its place in the file, for messages.
type Node struct {
	Kind    Kind
	Pos     Position
	Path    string // JSON path, $.UserConfig.Namespaces[0]
	Text    string // the value of a string, the spelling of a number
	Bool    bool
	Items   []*Node  // array
	Members []Member // object, in file order

	// of a value of a template
	Unknown string // why it is only known in Azure; empty: it is known
	Source  string // its expression, if it is unknown
	Weight  int    // about how many values it has in it; 0: not weighed
}

// Member is one key of an object.
type Member struct {
	Key   string
	Pos   Position // of the key
	Value *Node
}

// Get returns the last member whose key equals one of the names without regard to case, or nil. An explicit null
// counts as absent: serializers write one for what was not set.
func (n *Node) Get(names ...string) *Node {
	if n == nil || n.Kind != Object {
		return nil
	}
	for i := len(n.Members) - 1; i >= 0; i-- {
		for _, name := range names {
			if strings.EqualFold(n.Members[i].Key, name) {
				if n.Members[i].Value.Kind == Null {
					return nil
				}
				return n.Members[i].Value
			}
		}
	}
	return nil
}

// Describe renders the value for the "found" part of a message, cut to a readable length.
func (n *Node) Describe() string {
	switch n.Kind {
	case Null:
		return "null"
	case Bool:
		return strconv.FormatBool(n.Bool)
	case Number:
		return "the number " + clip(n.Text)
	case String:
		if n.Source != "" {
			return quote(n.Source)
		}
		return quote(n.Text)
	case Array:
		return "an array"
	default:
		return "an object"
	}
}

// clip shortens a user's text for a message.
func clip(s string) string { return printable.Clip(s, 60) }

// quote returns a user's text in quotes, for a message.
func quote(s string) string { return strconv.Quote(clip(s)) }

// maxPath bounds the path of a node, in bytes, so that a document of many levels does not become far larger in memory.
const maxPath = 400

// ChildPath appends a key to a JSON path, in brackets if a dot would be ambiguous.
func ChildPath(parent, key string) string {
	if len(parent) > maxPath {
		return parent
	}
	for i := range len(key) {
		c := key[i]
		if c != '_' && c != '$' && c != '-' && !isAlnum(c) {
			return parent + "[" + quote(key) + "]"
		}
	}
	if key == "" {
		return parent + `[""]`
	}
	return parent + "." + clip(key)
}

// IndexPath appends an index to a JSON path.
func IndexPath(parent string, i int) string {
	if len(parent) > maxPath {
		return parent
	}
	return parent + "[" + strconv.Itoa(i) + "]"
}

func isAlnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// Member returns the value of a key in upper or lower case, also one that is null.
func (n *Node) Member(key string) *Node {
	if n == nil {
		return nil
	}
	for _, m := range n.Members {
		if strings.EqualFold(m.Key, key) {
			return m.Value
		}
	}
	return nil
}

// Put adds a member to an object.
func (n *Node) Put(key string, value *Node) {
	n.Members = append(n.Members, Member{Key: key, Value: value})
}

// With returns an object with another value of a key.
func (n *Node) With(key string, value *Node) *Node {
	changed := *n
	changed.Members = slices.DeleteFunc(slices.Clone(n.Members), func(m Member) bool {
		return strings.EqualFold(m.Key, key)
	})
	changed.Put(key, value)
	return &changed
}

// Whole reads 10, 10.0 and 1e1.
func Whole(n *Node) (int64, bool) {
	if n == nil || n.Kind != Number {
		return 0, false
	}
	if v, err := strconv.ParseInt(n.Text, 10, 64); err == nil {
		return v, true
	}
	f, err := strconv.ParseFloat(n.Text, 64)
	if err != nil || f > 1<<53 || f < -(1<<53) || f != math.Trunc(f) {
		return 0, false
	}
	return int64(f), true
}

// MarshalJSON writes the value without spaces, its members in their order.
func (n *Node) MarshalJSON() ([]byte, error) { return n.append(nil), nil }

func (n *Node) append(b []byte) []byte {
	text := func(s string) {
		var quoted bytes.Buffer
		e := json.NewEncoder(&quoted)
		e.SetEscapeHTML(false)
		_ = e.Encode(s) // a text always has a form
		b = append(b, bytes.TrimSuffix(quoted.Bytes(), []byte("\n"))...)
	}
	switch n.Kind {
	case Null:
		return append(b, "null"...)
	case Bool:
		return strconv.AppendBool(b, n.Bool)
	case Number:
		if json.Valid([]byte(n.Text)) {
			return append(b, n.Text...)
		}
		f, _ := strconv.ParseFloat(n.Text, 64) // +1 and 007, which the parser takes
		return strconv.AppendFloat(b, f, 'g', -1, 64)
	case String:
		text(n.Text)
	case Array:
		b = append(b, '[')
		for i, item := range n.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.append(b)
		}
		b = append(b, ']')
	case Object:
		b = append(b, '{')
		for i, m := range n.Members {
			if i > 0 {
				b = append(b, ',')
			}
			text(m.Key)
			b = append(b, ':')
			b = m.Value.append(b)
		}
		b = append(b, '}')
	}
	return b
}
