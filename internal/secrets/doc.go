// Package secrets hides keys and signatures in what others get to read: the log, errors, a support bundle, answers for
// assistants. The server, its command line and its clients call it. It has pure functions only, and keeps no secret
// but those that its caller gives a [Hider].
package secrets
