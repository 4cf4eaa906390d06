// Package hostname says which host names can only be local: of this machine, of its network, or of the service that Minibus stands
// in for. No stranger can give such a name an address of his own.
//
// internal/tlsca signs certificates for local names, mgmt lets web pages use them, and internal/sas knows the
// service's own names in tokens by it. The package has no state and no goroutine, and never asks the network.
package hostname
