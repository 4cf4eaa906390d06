// Package ledger judges what a broker did with messages: it knows of every message where it may be, from what was sent and
// what was answered, and compares that with what is found.
//
// The crash tests and the soak keep one each. It owns no goroutine, and its methods may be called from any. It never talks to a
// broker: who does tells it before an operation leaves, and again with the answer.
package ledger
