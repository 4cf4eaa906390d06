// Command verify asks a Service Bus namespace for the behaviours of compat-tests/cases, and says what it saw:
//
//	go run ./compat-tests/verify [flags] CONNECTION
//
// CONNECTION is a connection string with the right to manage, of Azure or of anything that speaks like it. The command runs the very
// tests of compat-tests/go that need no server of their own (they call provesAnywhere). It makes entities whose names begin with a
// random prefix, touches no others, and removes them at the end, also after a failure or an interrupt. After a kill -9, run it
// with -remove and the prefix that it printed. It takes a few minutes, mostly waiting, and a few thousand small messages.
//
// Against Minibus, SSL_CERT_FILE names the certificate of its authority (minibus cert export), since the administration client
// insists on TLS.
//
// With -out it writes a file for compat-tests/verify/seen, from which docs/parity.md gets its column "Seen on Azure". The file names
// the tier and the domain, but neither the namespace nor its key.
package main
