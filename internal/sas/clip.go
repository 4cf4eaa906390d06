package sas

import "minibus/internal/printable"

// maxShown is how much of a text that a client chose stands in a line of the log, in bytes.
const maxShown = 200

// Clip shortens a text that anybody may have made, before any token was found good, for the log.
func Clip(s string) string { return printable.Clip(s, maxShown) }
