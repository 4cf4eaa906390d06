package atom

import (
	"fmt"
	"strings"

	"minibus/emulator"
)

// Longest names, in characters (QUO-9).
const (
	maxPath = 260 // queue or topic
	maxName = 50  // subscription or rule
)

const entityCharacters = "' contains character(s) that is not allowed by Service Bus. " +
	"Entity segments can contain only letters, numbers, periods (.), hyphens (-), and underscores (_). "

// CheckPath reports what is wrong with the path of a queue or topic, or nil. Segments "." and "..", those that begin with $
// and control characters are never allowed, whatever the profile (DEC-9): they would be lost in addresses or belong to the
// service.
func CheckPath(path string, l emulator.Limits) error {
	loose := limitsOf(l).looseNames
	switch {
	case path == "":
		return &Error{SubCode: badRequest, Text: "The name of the entity is empty. "}
	case len(path) > maxPath:
		return &Error{SubCode: badRequest, Text: fmt.Sprintf("The entity path/name '%s' exceeds the '%d' character limit. ", clip(path), maxPath)}
	case !endsWell(path, loose):
		return &Error{SubCode: badRequest, Text: "'" + clip(path) + entityCharacters}
	}
	for segment := range strings.SplitSeq(path, "/") {
		if !allowed(segment, loose) {
			return &Error{SubCode: badRequest, Text: "'" + clip(path) + entityCharacters}
		}
	}
	return nil
}

// CheckSubscription reports what is wrong with the name of a subscription, or nil. The texts have no sub-code.
func CheckSubscription(name string, l emulator.Limits) error { return checkName("", name, l) }

// CheckRule reports what is wrong with the name of a rule, or nil.
func CheckRule(name string, l emulator.Limits) error {
	if strings.EqualFold(name, DefaultRuleName) {
		return nil
	}
	return checkName("RuleName ", name, l)
}

func checkName(what, name string, l emulator.Limits) error {
	loose := limitsOf(l).looseNames
	switch {
	case len(name) > maxName:
		return &Error{Text: fmt.Sprintf("The entity path/name '%s' exceeds the '%d' character limit. ", clip(name), maxName)}
	case !allowed(name, loose) || !endsWell(name, loose):
		return &Error{Text: what + "'" + clip(name) + entityCharacters}
	}
	return nil
}

// allowed reports whether a segment has only characters that the service takes.
func allowed(segment string, loose bool) bool {
	if segment == "" || segment == "." || segment == ".." {
		return false
	}
	for i := range len(segment) {
		if c := segment[i]; !alphanumeric(c) && c != '.' && c != '-' && c != '_' && (c != '~' || !loose) {
			return false
		}
	}
	return true
}

// endsWell reports whether a name begins and ends as the profile has it.
func endsWell(name string, loose bool) bool {
	for _, i := range []int{0, len(name) - 1} {
		if name == "" || !alphanumeric(name[i]) && (!loose || name[i] != '_' && name[i] != '~') {
			return false
		}
	}
	return true
}

func alphanumeric(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' }
