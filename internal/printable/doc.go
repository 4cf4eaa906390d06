// Package printable makes texts from clients safe to repeat, in an error, in the log, on the wire and on a terminal,
// and guesses which word a wrong one was meant to be. Its functions are pure, and its writer keeps a character at
// most.
package printable
