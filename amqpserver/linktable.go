package amqpserver

import "slices"

// linkTable holds the links of a session in the order of their handles, which are the peer's and ours. It grows with the number of
// links and not with their handles: the peer chooses those, and high ones cost it nothing.
type linkTable []endpoint

// get returns the link with a handle, or nil.
func (t linkTable) get(handle uint32) endpoint {
	if handle < uint32(len(t)) && t[handle].base().handle == handle {
		return t[handle] // the usual case: peers number their links from 0
	}
	if i, found := t.find(handle); found {
		return t[i]
	}
	return nil
}

func (t linkTable) find(handle uint32) (int, bool) {
	return slices.BinarySearchFunc(t, handle, func(e endpoint, handle uint32) int {
		return int(int64(e.base().handle) - int64(handle))
	})
}

// with returns the table with one more link, whose handle must be free.
func (t linkTable) with(e endpoint) linkTable {
	i, _ := t.find(e.base().handle)
	return slices.Insert(t, i, e)
}

// without returns a copy of the table without the link with a handle. A loop over the old table may go on.
func (t linkTable) without(handle uint32) linkTable {
	i, found := t.find(handle)
	if !found {
		return t
	}
	return slices.Concat(t[:i], t[i+1:])
}
