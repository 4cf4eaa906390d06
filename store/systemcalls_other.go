//go:build !(linux && (amd64 || arm64))

package store

// prepareLog changes nothing here: SQLite's own calls write the log.
func prepareLog(string) {}

func dropOnRollback(*conn) {}
