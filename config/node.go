package config

import (
	"slices"
	"strconv"
	"strings"

	"minibus/internal/printable"
)

// kind is the JSON type of a node.
type kind uint8

const (
	kindNull kind = iota
	kindBool
	kindNumber
	kindString
	kindArray
	kindObject
)

// position is a place in the file, both counted from 1; columns count characters, not bytes.
type position struct{ line, column int }

// node is one JSON value with its place in the file, for messages.
type node struct {
	kind    kind
	pos     position
	path    string // JSON path, $.UserConfig.Namespaces[0]
	text    string // the value of a string, the spelling of a number
	boolean bool
	items   []*node  // array
	members []member // object, in file order

	// of a value of a template
	unknown string // why it is only known in Azure; empty: it is known
	source  string // its expression, if it is unknown
	weight  int    // about how many values it has in it; 0: not weighed
}

// member is one key of an object.
type member struct {
	key   string
	pos   position // of the key
	value *node
}

// get returns the last member whose key equals one of the names without regard to case, or nil. An explicit null
// counts as absent: serializers write one for what was not set.
func (n *node) get(names ...string) *node {
	if n == nil || n.kind != kindObject {
		return nil
	}
	for i := len(n.members) - 1; i >= 0; i-- {
		for _, name := range names {
			if strings.EqualFold(n.members[i].key, name) {
				if n.members[i].value.kind == kindNull {
					return nil
				}
				return n.members[i].value
			}
		}
	}
	return nil
}

// describe renders the value for the "found" part of a message, cut to a readable length.
func (n *node) describe() string {
	switch n.kind {
	case kindNull:
		return "null"
	case kindBool:
		return strconv.FormatBool(n.boolean)
	case kindNumber:
		return "the number " + clip(n.text)
	case kindString:
		if n.source != "" {
			return quote(n.source)
		}
		return quote(n.text)
	case kindArray:
		return "an array"
	default:
		return "an object"
	}
}

// clip shortens a user's text for a message.
func clip(s string) string { return printable.Clip(s, 60) }

// quote returns a user's text in quotes, for a message.
func quote(s string) string { return strconv.Quote(clip(s)) }

// childPath appends a key to a JSON path, in brackets if a dot would be ambiguous.
func childPath(parent, key string) string {
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

// indexPath appends an index to a JSON path.
func indexPath(parent string, i int) string { return parent + "[" + strconv.Itoa(i) + "]" }

func isAlnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// containsFold reports whether s is in the list. Upper and lower case are the same.
func containsFold(list []string, s string) bool {
	return slices.ContainsFunc(list, func(item string) bool { return strings.EqualFold(item, s) })
}
