// Package discovery knows which Minibuses run on this machine. Each of them has a small file in a directory of the
// user, and keeps it locked while it runs. The lock ends with the process, however that ends, so a file that nobody
// has locked is of one that is gone.
//
// Package server/command announces a server, and package cli lists them. It never connects to a server, and owns no
// goroutine. Nothing secret is in the files.
package discovery
