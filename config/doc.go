// Package config reads the settings and entities with which Minibus runs.
//
// It reads Microsoft's Config.json ([Parse], [Load]) into the entities that must exist, as [emulator.EntityConfig]
// values. The reader is as lenient about form as Microsoft's (comments, trailing commas, byte order mark, any case
// of keys, missing sections) and strict about content. Every error names the file, the line, the JSON path, the value
// found, the allowed values and the fix. A report lists errors together. [Assemble] reads several parts as one file,
// such as the queues that a Go program declares.
//
// The package also has the table of settings ([Read]). Each setting has a flag, an environment variable and a
// default, in that order of precedence, and one line of help.
//
// Packages server, sbtest and export call it. It starts no goroutine, opens no socket, and never touches the
// database or exits the process.
package config
