// Package entitypath splits and joins the paths of entities: topic/Subscriptions/name, and the nodes below an
// entity, which are its dead-letter queues and its management node.
//
// The domain and every adapter that reads a path from outside use it, so that all of them split in the same way. The
// fixed parts match in any case of letters; results keep their spelling. It owns no goroutine, keeps no state, and
// knows neither hosts nor percent-encoding: those belong to the protocols.
package entitypath
