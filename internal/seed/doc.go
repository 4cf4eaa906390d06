// Package seed reads and writes files of messages that a Minibus has from its start: a message in JSON on each line,
// as package messagejson has it, with the name of its entity. In texts there may be placeholders such as {{now+1h}}.
//
// [Read] reads files and directories, [Line.Message] makes the message of a line at a time, [Append] writes a line.
//
// The package has no goroutines and no state.
package seed
