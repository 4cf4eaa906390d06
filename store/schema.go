package store

import (
	_ "embed" // the schema
	"errors"
	"fmt"
	"log/slog"
)

// schema makes what is in a new database.
//
//go:embed schema.sql
var schema string

// firstSchema is the version of the schema that schema.sql makes. Lower ones are of builds before the first release.
const firstSchema = 7

// migrations are scripts that bring a database from firstSchema to later versions, one version each. They are never
// changed once released.
var migrations = []string{
	// 8: what Resource Manager knows, as JSON by the lower-case id of the resource
	"CREATE TABLE documents (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
}

func lastSchema() int64 { return int64(firstSchema + len(migrations)) }

const applicationID = 0x4d425553 // "MBUS"; identifies Minibus databases

// errForeign refuses an SQLite database of another program.
var errForeign = errors.New("this is not a Minibus database: " + fixForeign)

// openDatabase opens a connection and brings the file to this version's schema. It writes nothing unless the database
// is ours and not newer than this program.
func openDatabase(path, sync string, log *slog.Logger) (*conn, error) {
	c, err := openConn(path)
	if err != nil {
		return nil, openError(path, err)
	}
	if err := c.setUp(path, sync, log); err != nil {
		c.leaveLog()
		c.close()
		return nil, openError(path, err)
	}
	return c, nil
}

func (c *conn) setUp(path, sync string, log *slog.Logger) error {
	version, err := c.recognise()
	if err != nil {
		return err
	}
	if c.readOnly() {
		return errors.New("the file is not writable")
	}
	if err := c.tellUselessLog(path, log); err != nil {
		return err
	}
	if version == 0 {
		if err := c.exec(fmt.Sprintf("PRAGMA page_size=%d; PRAGMA auto_vacuum=INCREMENTAL", pageSize)); err != nil {
			return err
		}
	}
	if err := c.migrate(version); err != nil {
		return err
	}
	return c.exec("PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; PRAGMA journal_size_limit=67108864;" +
		"PRAGMA cache_size=-16384; PRAGMA temp_store=MEMORY;" + sync)
}

// recognise returns the version of the schema, 0 for an empty database.
func (c *conn) recognise() (version int64, err error) {
	app, err := c.queryInt("PRAGMA application_id")
	if err != nil {
		return 0, err
	}
	if version, err = c.queryInt("PRAGMA user_version"); err != nil {
		return 0, err
	}
	tables, err := c.queryInt("SELECT count(*) FROM sqlite_schema")
	if err != nil {
		return 0, err
	}
	switch {
	case app == 0 && version == 0 && tables == 0:
		return 0, nil
	case app != applicationID:
		return 0, errForeign
	case version > lastSchema():
		return 0, fmt.Errorf("it was made by a newer version of Minibus (schema %d, this version knows %d): "+
			"use that version, or name another file with --data", version, lastSchema())
	case version < firstSchema:
		return 0, fmt.Errorf("it was made by a build from before the first release "+
			"(schema %d, this version knows %d): use that build, or name another file with --data; "+
			"one that does not exist is made", version, lastSchema())
	}
	return version, nil
}

// migrate brings the schema from a version, 0 for none, to the last one in one transaction, for each waits for the disk
// several times. A new database does not enter WAL mode before, so that the application id is in the file itself.
func (c *conn) migrate(version int64) error {
	if version == lastSchema() {
		return nil
	}
	err := c.exec("BEGIN IMMEDIATE")
	if err == nil && version == 0 {
		err = c.exec(schema)
		version = firstSchema
	}
	for ; err == nil && version < lastSchema(); version++ {
		if err = c.exec(migrations[version-firstSchema]); err != nil {
			err = fmt.Errorf("bring the schema to version %d: %w", version+1, err)
		}
	}
	if err == nil {
		err = c.exec(fmt.Sprintf("PRAGMA application_id=%d; PRAGMA user_version=%d; COMMIT", applicationID, version))
	}
	if err != nil {
		c.rollback()
	}
	return err
}

// openError wraps an error at start into one line that says what to do.
func openError(path string, err error) error {
	if isDamage(err) {
		return fmt.Errorf("open database %s: the file is damaged: %w; put a copy in its place, "+
			"or name another file with --data", path, err)
	}
	if isFull(err) {
		return fmt.Errorf("open database %s: the disk is full; free some space on it and start again, "+
			"nothing is lost: %w", path, err)
	}
	return fmt.Errorf("open database %s: %w", path, err)
}
