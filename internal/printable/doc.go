// Package printable makes texts from clients safe to repeat: in an error, in the log, on the wire. It has pure
// functions only.
package printable
