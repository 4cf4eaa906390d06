// Package tlsca is Minibus's own certificate authority. The first run makes it and stores it beside the database, so
// that a user has to trust it only once. It signs one certificate for each server name that a client asks for.
//
// Package server opens it and gives [Authority.TLSConfig] to the listeners. The package owns no goroutine. Many
// goroutines may use an [Authority] at once, and many processes its directory. It writes its own two files and the
// copy that [Authority.Export] makes, and never overwrites its own. The key never leaves the process except into its
// file, which only the owner may read.
package tlsca
