package config

import (
	"slices"
	"strconv"
	"strings"

	"minibus/internal/jsontree"
	"minibus/internal/printable"
)

// The values of a file, each with its place.
type (
	node   = jsontree.Node
	member = jsontree.Member
	kind   = jsontree.Kind
)

const (
	kindNull   = jsontree.Null
	kindBool   = jsontree.Bool
	kindNumber = jsontree.Number
	kindString = jsontree.String
	kindArray  = jsontree.Array
	kindObject = jsontree.Object
)

// clip shortens a user's text for a message.
func clip(s string) string { return printable.Clip(s, 60) }

// quote returns a user's text in quotes, for a message.
func quote(s string) string { return strconv.Quote(clip(s)) }

// containsFold reports whether s is in the list. Upper and lower case are the same.
func containsFold(list []string, s string) bool {
	return slices.ContainsFunc(list, func(item string) bool { return strings.EqualFold(item, s) })
}
