package atom

import "minibus/emulator"

// CheckPath returns an error if a queue or topic can't have the path.
func CheckPath(path string, l emulator.Profile) error {
	return refusedName(l.CheckPath(path), badRequest)
}

// CheckSubscription returns an error if a subscription can't have the name. The texts have no sub-code.
func CheckSubscription(name string, l emulator.Profile) error {
	return refusedName(l.CheckSubscription(name), 0)
}

// CheckRule returns an error if a rule can't have the name.
func CheckRule(name string, l emulator.Profile) error { return refusedName(l.CheckRuleName(name), 0) }

// refusedName makes the administration's error of the domain's.
func refusedName(err error, subCode int) error {
	if err == nil {
		return nil
	}
	return &Error{SubCode: subCode, Text: err.Error() + " "}
}
