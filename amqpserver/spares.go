package amqpserver

// maxSpares bounds how many values of a kind a connection keeps for reuse.
const maxSpares = 256

// spares holds values that a connection's loop reuses.
type spares[T any] []*T

// get returns a zero value.
func (s *spares[T]) get() *T {
	n := len(*s)
	if n == 0 {
		return new(T)
	}
	v := (*s)[n-1]
	*s = (*s)[:n-1]
	return v
}

// put takes back a value that nothing refers to.
func (s *spares[T]) put(v *T) {
	var zero T
	*v = zero
	if len(*s) < maxSpares {
		*s = append(*s, v)
	}
}
