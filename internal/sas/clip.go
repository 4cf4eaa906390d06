package sas

import "minibus/internal/printable"

// maxShown bounds the part of a client's text in a log line, in bytes.
const maxShown = 200

// Clip shortens a client's text for the log. The client may not have shown a valid token.
func Clip(s string) string { return printable.Clip(s, maxShown) }
