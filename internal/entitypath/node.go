package entitypath

import "strings"

// SubQueue is one of the three logs of an entity (DLQ-1, DLQ-16).
type SubQueue uint8

// The sub-queues.
const (
	Main               SubQueue = 0 // the entity itself
	DeadLetter         SubQueue = 1 // <path>/$DeadLetterQueue
	TransferDeadLetter SubQueue = 2 // <path>/$Transfer/$DeadLetterQueue
)

// The nodes below an entity, as the documentation of the service writes them.
const (
	management         = "$management"
	deadLetter         = "$DeadLetterQueue"
	transferDeadLetter = "$Transfer/" + deadLetter
)

// Name returns the end of the path of a sub-queue, nothing for the main one.
func (s SubQueue) Name() string {
	return [...]string{Main: "", DeadLetter: deadLetter, TransferDeadLetter: transferDeadLetter}[s]
}

// Join returns the path of a sub-queue.
func (s SubQueue) Join(path string) string {
	if s == Main {
		return path
	}
	return path + "/" + s.Name()
}

// Management returns the path of a management node.
func Management(path string) string { return path + "/" + management }

// CutManagement removes the management node from a path; ok is false if there is none.
func CutManagement(path string) (rest string, ok bool) { return cutNode(path, management) }

// CutSubQueue removes the name of a sub-queue from a path. Without one it returns Main.
func CutSubQueue(path string) (rest string, sub SubQueue) {
	if rest, ok := cutNode(path, transferDeadLetter); ok {
		return rest, TransferDeadLetter
	}
	if rest, ok := cutNode(path, deadLetter); ok {
		return rest, DeadLetter
	}
	return path, Main
}

// Entity removes all nodes from a path: orders/$DeadLetterQueue/$management becomes orders. The path of a subscription
// stays whole.
func Entity(path string) string {
	rest, _ := CutManagement(path)
	rest, _ = CutSubQueue(rest)
	return rest
}

// cutNode is cutLast for a node; clients may write several slashes before it.
func cutNode(path, node string) (rest string, ok bool) {
	rest, ok = cutLast(path, node)
	if ok {
		rest = strings.TrimRight(rest, "/")
	}
	return rest, ok
}
