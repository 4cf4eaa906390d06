// Package rawclient is a small AMQP client for what no Go library offers. It opens connections, sessions, links and
// coordinator links, sends and settles inside and outside of transactions, and waits for each answer before it goes
// on. Its [Wire], the frames of a connection, serves the load generator, which must cost little itself.
//
// The black-box tests, the soak and the bench use it. It owns no goroutine: a method reads the socket on its caller's,
// so a connection and everything on it belongs to one goroutine. go-amqp encodes and decodes messages.
// internal/amqp/frames, which other tests check against other libraries, does the same for frames. The package never
// retries and never reconnects.
package rawclient
