package emulator

import (
	"strings"

	"minibus/emulator/filter"
)

// The expressions of the service's true and false filters.
const (
	TrueExpression  = filter.TrueText
	FalseExpression = filter.FalseText
)

// CheckRuleName reports what is wrong with the name of a new rule, or nil (QUO-9). It is asked by every front end, for one of them could
// neither show nor remove a rule of another name.
func (l Limits) CheckRuleName(name string) error {
	switch {
	case strings.EqualFold(name, DefaultRuleName):
		return nil
	case len(name) > MaxName:
		return errorf(CodeArgument, "", "The entity path/name '%.64s' exceeds the '%d' character limit.", name, MaxName)
	case !l.AllowsSegment(name) || !l.EndsWell(name):
		return errorf(CodeArgument, "", "RuleName '%.64s' contains character(s) that is not allowed by Service Bus. "+
			"Entity segments can contain only letters, numbers, periods (.), hyphens (-), and underscores (_).", name)
	}
	return nil
}

// AllowsSegment reports whether a segment of a name has only characters that the service takes, and the relaxed profile (DEC-9).
func (l Limits) AllowsSegment(segment string) bool {
	if segment == "" || segment == "." || segment == ".." {
		return false
	}
	for i := range len(segment) {
		if c := segment[i]; !alphanumeric(c) && c != '.' && c != '-' && c != '_' && (c != '~' || !profiles[l].LooseNames) {
			return false
		}
	}
	return true
}

// EndsWell reports whether a name begins and ends as the profile has it (DEC-9).
func (l Limits) EndsWell(name string) bool {
	p := profiles[l]
	loose := func(c byte) bool { return alphanumeric(c) || p.LooseNames && (c == '_' || c == '~') }
	return name != "" && loose(name[0]) && (loose(name[len(name)-1]) || name[len(name)-1] == '-' && p.EndingHyphens)
}

func alphanumeric(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' }
