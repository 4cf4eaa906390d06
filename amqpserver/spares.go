package amqpserver

// maxFree bounds how many values of a kind a connection keeps for reuse.
const maxFree = 256

// freeList holds values that a connection's loop reuses.
type freeList[T any] []*T

// get returns a zero value.
func (s *freeList[T]) get() *T {
	n := len(*s)
	if n == 0 {
		return new(T)
	}
	v := (*s)[n-1]
	*s = (*s)[:n-1]
	return v
}

// put takes back a value that nothing refers to.
func (s *freeList[T]) put(v *T) {
	var zero T
	*v = zero
	if len(*s) < maxFree {
		*s = append(*s, v)
	}
}
