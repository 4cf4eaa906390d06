package emulator

// Quiesce waits until nothing is under way that the broker does by itself: every change is committed, every message
// that can be forwarded is where it goes. It must not be called on the journal's goroutine.
func (ns *Namespace) Quiesce() {
	for {
		before := ns.appended.Load()
		_ = ns.flush() // the caller that asked for a change learns of its failure
		ns.forwarding.wait()
		ns.reading.wait()
		if ns.appended.Load() == before {
			return
		}
	}
}

// append hands a change to the journal.
func (ns *Namespace) append(c *Change) {
	ns.appended.Add(1)
	ns.journal.Append(c)
}

// await starts an operation and waits until it is told to have ended.
func await(start func(done Completion)) error {
	done := make(chan error, 1)
	start(CompletionFunc(func(err error) { done <- err }))
	return <-done
}
