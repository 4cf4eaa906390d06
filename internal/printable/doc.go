// Package printable makes texts from clients safe to repeat: in an error, in the log, on the wire. Its
// functions are pure, and its writer keeps a character at most.
package printable
