package filter

// Message gives a filter the properties of a message, one at a time, so that only those that the filter reads are
// decoded. Neither method may change the message. Filters can't read the body (TOP-9).
type Message interface {
	// User returns the application property called name. Names are case-insensitive: the exact spelling
	// wins, then the first that differs only by case ([MatchName]). For a property that is present without a value User
	// returns [Null] and true.
	User(name string) (v Value, ok bool)

	// Exact is User for a name in that case only, as selectors look properties up.
	Exact(name string) (v Value, ok bool)

	// System returns a property of the broker, of the property's Kind, or [Null] if the message has none.
	System(p SystemProperty) Value
}

// Target is the copy of a message that an action changes. Reads see what earlier statements wrote. After an error the
// copy is half changed, and the caller must discard it.
type Target interface {
	Message

	// SetUser gives the application property called name a value, which may be [Null]. The name is looked up as in
	// [Message]; if it is new, the property takes the spelling of the action.
	SetUser(name string, v Value) error

	// RemoveUser removes the application property called name, looked up as in [Message], if there is one.
	RemoveUser(name string)

	// SetSystem gives a settable property a value of its Kind, or clears it if the value is [Null].
	SetSystem(p SystemProperty, v Value) error
}
