package atom

import (
	"fmt"
	"strings"

	"minibus/emulator"
)

const entityCharacters = "' contains character(s) that is not allowed by Service Bus. Entity segments can contain " +
	"only letters, numbers, periods (.), hyphens (-), and underscores (_). "

// tooLong says that a path or name has more than the allowed number of characters.
func tooLong(name string, most int) string {
	return fmt.Sprintf("The entity path/name '%s' exceeds the '%d' character limit. ", clip(name), most)
}

// CheckPath returns an error if a queue or topic can't have the path. Segments "." and "..", segments that begin with
// $, and control characters are not allowed in any profile (DEC-9): addresses would lose them, or they belong to the
// service.
func CheckPath(path string, l emulator.Profile) error {
	switch {
	case path == "":
		return &Error{SubCode: badRequest, Text: "The name of the entity is empty. "}
	case len(path) > emulator.MaxPath:
		return &Error{SubCode: badRequest, Text: tooLong(path, emulator.MaxPath)}
	case !l.EndsWell(path):
		return &Error{SubCode: badRequest, Text: "'" + clip(path) + entityCharacters}
	}
	for segment := range strings.SplitSeq(path, "/") {
		if !l.AllowsSegment(segment) {
			return &Error{SubCode: badRequest, Text: "'" + clip(path) + entityCharacters}
		}
	}
	return nil
}

// CheckSubscription returns an error if a subscription can't have the name. The texts have no sub-code.
func CheckSubscription(name string, l emulator.Profile) error {
	switch {
	case len(name) > emulator.MaxName:
		return &Error{Text: tooLong(name, emulator.MaxName)}
	case !l.AllowsSegment(name) || !l.EndsWell(name):
		return &Error{Text: "'" + clip(name) + entityCharacters}
	}
	return nil
}

// CheckRule returns an error if a rule can't have the name.
func CheckRule(name string, l emulator.Profile) error {
	if err := l.CheckRuleName(name); err != nil {
		return &Error{Text: err.Error() + " "}
	}
	return nil
}
