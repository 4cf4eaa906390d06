// Package ledger judges what a broker did with messages. From the operations and their answers it derives where each message may be,
// and compares that with where it is.
//
// The crash tests and the soak keep one each. It owns no goroutine, and any goroutine may call its methods. It never talks to a
// broker: its caller calls it before an operation leaves, and again with the answer.
package ledger
