// Package hostname recognises host names that can only be local: names of this machine, of its network, or of the
// service that Minibus replaces. No attacker can give such a name an address.
//
// internal/tlsca signs certificates for local names, mgmt lets web pages use them, and internal/sas recognises the
// service's own names in tokens. The package has no state and no goroutine, and never asks the network.
package hostname
