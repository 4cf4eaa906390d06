package config

import (
	"strconv"
	"strings"

	"minibus/emulator"
	"minibus/internal/entitypath"
)

// nameRule says which names a kind of entity may have. The broker decides which characters (DEC-9).
type nameRule struct {
	most    int
	slash   bool // segments separated by / are allowed
	system  bool // $Default is allowed
	client  bool // NAME$CLIENTID$D is allowed
	profile emulator.Profile
}

// allowed describes the rule for a message.
func (r nameRule) allowed() string {
	s := "letters, digits, '.', '-', '_'"
	if r.slash {
		s += ", '/'"
	}
	if r.loose() {
		s += ", '~'"
	}
	s += ", beginning and ending with a letter or digit"
	if r.profile.Limits().EndingHyphens {
		s += ", or ending with '-'"
	}
	return s
}

func (r nameRule) loose() bool { return r.profile.Limits().LooseNames }

// check returns what is wrong with a name, or "". Segments "." and ".." and segments that begin with $
// are never allowed (DEC-9): URLs would lose the former, and the latter belong to the service.
func (r nameRule) check(name string) string {
	_, client := emulator.ClientAffineOf(name)
	switch {
	case name == "":
		return "an empty name"
	case r.client && client != nil && r.profile.CheckSubscription(name) != nil:
		return "a name of a subscription of JMS clients that can't be part of a path"
	case r.client && client != nil:
		return ""
	case len([]rune(name)) > r.most:
		return "a name of more characters than the service takes"
	case r.system && strings.EqualFold(name, emulator.DefaultRuleName):
		return ""
	}
	for _, c := range name {
		if c < ' ' || c == 0x7F {
			return "a control character in the name"
		}
		if !r.takes(c) {
			return "the character " + strconv.QuoteRune(c) + " in the name"
		}
	}
	return r.checkShape(name)
}

// takes reports whether a name may contain a character, except at its ends.
func (r nameRule) takes(c rune) bool {
	return c == '/' && r.slash || r.profile.AllowsSegment("x"+string(c))
}

func (r nameRule) checkShape(name string) string {
	if !r.profile.EndsWell(name) {
		return "a name that begins or ends with punctuation"
	}
	if r.slash && entitypath.IsReserved(name) {
		return "the path of a subscription"
	}
	for segment := range strings.SplitSeq(name, "/") {
		switch {
		case segment == "":
			return "an empty segment in the name"
		case !r.profile.AllowsSegment(segment):
			return "the segment " + segment + " in the name"
		}
	}
	return ""
}
