// Package ledger judges what a broker did with messages. It derives from the operations and their answers where each message may be,
// and compares that with what is found.
//
// The crash tests and the soak keep one each. It owns no goroutine, and any goroutine may call its methods. It never talks to a
// broker: its caller tells it of an operation before the operation leaves, and again with the answer.
package ledger
