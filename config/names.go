package config

import (
	"strconv"
	"strings"

	"minibus/emulator"
	"minibus/internal/entitypath"
)

// nameRule says which names a kind of entity may have.
type nameRule struct {
	most   int
	slash  bool // segments separated by / are allowed
	loose  bool // DEC-9: ~ anywhere, _ at the ends
	system bool // $Default is allowed
}

// allowed describes the rule for a message.
func (r nameRule) allowed() string {
	s := "letters, digits, '.', '-', '_'"
	if r.slash {
		s += ", '/'"
	}
	if r.loose {
		s += ", '~'"
	}
	return s + ", beginning and ending with a letter or digit"
}

// check returns what is wrong with a name, or the empty string. Segments "." and ".." and those that begin with $
// are never allowed (DEC-9): the first two would be lost in URLs, the last belong to the service.
func (r nameRule) check(name string) string {
	switch {
	case name == "":
		return "an empty name"
	case len([]rune(name)) > r.most:
		return "a name of more characters than the service takes"
	case r.system && strings.EqualFold(name, emulator.DefaultRuleName):
		return ""
	}
	for _, c := range name {
		if c < ' ' || c == 0x7F {
			return "a control character in the name"
		}
		if c > 0x7F || !r.takes(byte(c)) {
			return "the character " + strconv.QuoteRune(c) + " in the name"
		}
	}
	return r.checkShape(name)
}

func (r nameRule) takes(c byte) bool {
	return isAlnum(c) || c == '.' || c == '-' || c == '_' || c == '/' && r.slash || c == '~' && r.loose
}

func (r nameRule) checkShape(name string) string {
	if !r.endsWell(name[0]) || !r.endsWell(name[len(name)-1]) {
		return "a name that begins or ends with punctuation"
	}
	if r.slash && entitypath.IsReserved(name) {
		return "the path of a subscription"
	}
	for segment := range strings.SplitSeq(name, "/") {
		switch segment {
		case "":
			return "an empty segment in the name"
		case ".", "..":
			return "the segment " + segment + " in the name"
		}
	}
	return ""
}

func (r nameRule) endsWell(c byte) bool {
	return isAlnum(c) || r.loose && (c == '_' || c == '~')
}
