// Package rawclient is a small AMQP client for what no Go library has: transactions. It opens connections, sessions, links
// and coordinator links, sends and settles inside and outside of transactions, and waits for each answer before it goes on.
//
// The black-box tests call it. It owns no goroutine: whoever calls a method reads the socket meanwhile, so a connection
// with all that is on it belongs to one goroutine. Messages are encoded and decoded by go-amqp, frames by the codec of
// internal/amqp/frames, which is checked against other libraries elsewhere. It never retries and never reconnects.
package rawclient
