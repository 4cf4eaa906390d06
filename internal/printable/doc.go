// Package printable makes texts that anybody may have written fit to be repeated: in an error, in the log, on the wire. It has pure
// functions only.
package printable
