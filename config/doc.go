// Package config turns what a user writes into what Minibus runs with.
//
// It reads Microsoft's Config.json ([Parse], [Load]): the entities that must exist, as [emulator.EntityConfig]
// values. The reader is as lenient about form as the original (comments, trailing commas, byte order mark, any case
// of keys, missing sections) and exact about content: every error names the file, the line, the JSON path, what was
// found, what is allowed and what to do, and errors are reported together, not one a run. [Assemble] reads several parts as one,
// queues that a Go program declares among them.
//
// It also owns the table of settings ([ParseArgs]): each has a flag, a twin in the environment and a default, in
// that order of precedence, and one line of help.
//
// Package server and sbtest call it. It starts no goroutine, opens no socket, never touches the
// database and never exits the process.
package config
