// Package rawclient is a small AMQP client for transactions, which no Go library has. It opens connections, sessions, links
// and coordinator links, sends and settles inside and outside of transactions, and waits for each answer before it goes on.
//
// The black-box tests and the soak call it. It owns no goroutine: the caller of a method reads the socket meanwhile, so a connection
// and everything on it belongs to one goroutine. go-amqp encodes and decodes messages; the codec of
// internal/amqp/frames, which other tests check against other libraries, does so for frames. The package never retries and never reconnects.
package rawclient
