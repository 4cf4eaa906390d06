package emulator

// Quiesce waits until nothing is under way that the broker does by itself: every change is committed, every message
// that can be forwarded is where it goes. It does not wait for clients, who may go on. It must not be called on the journal's goroutine.
func (ns *Namespace) Quiesce() {
	for range quiesceRounds {
		before := ns.deeds.Load()
		_ = ns.flush() // the caller that asked for a change learns of its failure
		ns.forwarding.wait()
		ns.reading.wait()
		if ns.deeds.Load() == before {
			return
		}
	}
}

// quiesceRounds is more than what a message sets going takes, which goes from entity to entity maxTransfers times at most. It bounds the
// time where clients always send what is to be forwarded.
const quiesceRounds = 4 * maxTransfers

// append hands a change to the journal.
func (ns *Namespace) append(c *Change) { ns.journal.Append(c) }

// await starts an operation and waits until it is told to have ended.
func await(start func(done Completion)) error {
	done := make(chan error, 1)
	start(CompletionFunc(func(err error) { done <- err }))
	return <-done
}
