package ledger

import (
	"fmt"
	"strings"
)

// numbers records which message each sequence number of an entity belongs to.
type numbers struct {
	names   map[numbered]string
	highest map[series]int64
	floor   map[series]int64 // numbers up to here belong to forgotten messages
}

// numbered is a sequence number of an entity.
type numbered struct {
	entity string
	number int64
}

// series is a sequence of numbers: of an entity, or of one of its partitions, which the upper 16 bits of a number name.
type series struct {
	entity    string
	partition int64
}

func newNumbers() numbers {
	return numbers{names: make(map[numbered]string), highest: make(map[series]int64), floor: make(map[series]int64)}
}

// entityOf returns the first part of entity/id, or "" if there is none.
func entityOf(id string) string {
	entity, _, found := strings.Cut(id, "/")
	if !found {
		return ""
	}
	return entity
}

// seen returns a fault if the number belongs to another message.
func (n *numbers) seen(id string, number int64) (fault string) {
	key := numbered{entityOf(id), number}
	counter := series{key.entity, number >> 48}
	switch known, ok := n.names[key]; {
	case ok && known != id:
		fault = fmt.Sprintf("number %d names %s and %s", number, known, id)
	case !ok && number <= n.floor[counter]:
		fault = fmt.Sprintf("number %d of %s was given to a message before; numbers up to %d were", number, id, n.floor[counter])
	}
	n.names[key] = id
	n.highest[counter] = max(n.highest[counter], number)
	return fault
}

// rest forgets the messages. Every number up to the highest stays used.
func (n *numbers) rest() {
	clear(n.names)
	for counter, highest := range n.highest {
		n.floor[counter] = highest
	}
}
