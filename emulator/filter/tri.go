package filter

// Tri is a truth value of three-valued logic. The order False < Unknown < True makes AND the smaller of two values, OR
// the larger and NOT the mirror image, which is the whole truth table of the language.
type Tri uint8

// The three truth values. Only True selects a message.
const (
	False Tri = iota
	Unknown
	True
)

// and is true when both are, and false as soon as one is.
func (t Tri) and(u Tri) Tri { return min(t, u) }

// or is true as soon as one is, and false when both are.
func (t Tri) or(u Tri) Tri { return max(t, u) }

// not turns true and false around. Unknown stays unknown.
func (t Tri) not() Tri { return True - t }

// String returns the name of the value.
func (t Tri) String() string {
	switch t {
	case False:
		return "false"
	case True:
		return "true"
	default:
		return "unknown"
	}
}

// triOf converts a condition that is never unknown.
func triOf(b bool) Tri {
	if b {
		return True
	}
	return False
}
