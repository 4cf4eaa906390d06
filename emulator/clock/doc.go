// Package clock is the time that a namespace lives by: the machine's, except that it never goes back, and that tests
// and people can advance and freeze it.
//
// It knows nothing of entities and messages. The domain reads a [Clock] and sets timers with it. Only what belongs to
// the network, such as heartbeats, follows the machine's clock instead.
//
// A [System] has one timer of the runtime for all its pending calls. Each call runs on a goroutine of its own, except
// while the clock is advanced: then one call is made after another, on the goroutine that advances it.
//
// Lock order: the mutex that Advance, Freeze, Resume and Restart hold, then that of the timers, then that of the lag
// behind the wall clock. No call is made under any but the first.
package clock
