// Package entitypath takes the paths of entities apart and puts them together: topic/Subscriptions/name, and the nodes that an
// entity has below itself, which are its dead-letter queues and its management node.
//
// The domain and every adapter that reads a path from outside call it, so that all of them cut in the same place. Letters of any
// case are the same in the fixed parts; what is returned keeps its spelling. It owns no goroutine, keeps nothing, and knows
// neither hosts nor percent-encoding: those belong to the protocols.
package entitypath
