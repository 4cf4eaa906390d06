// Package hostname says which names of hosts can only be local: of this machine, of its network, or of the service that Minibus stands
// in for. No stranger can give such a name an address of his own.
//
// internal/tlsca signs certificates for them, mgmt lets web pages use them, and package server adds the names that the settings give. It has
// no state and no goroutines, and never asks the network.
package hostname
