// Package tlsca is Minibus's own certificate authority. It is made at the first run and kept beside the database, so
// that a user has to trust it once, and it signs one certificate for each server name that a client asks for.
//
// Package server opens it and gives [Authority.TLSConfig] to the listeners. The package owns no goroutine; an [Authority] may be
// used by many at once, and so may its directory. It never writes anything but its own two files, never overwrites them, and
// never lets the key leave the process except into its file, which only the owner may read.
package tlsca
