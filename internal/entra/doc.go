// Package entra makes and checks web tokens (JWT) as Microsoft Entra ID does, for a Minibus that is its own issuer. A
// [Key] signs the tokens; a [Verifier] checks them, and those of other issuers that it was told of.
//
// Package mgmt/identity gives the tokens out, and server asks the verifier on behalf of the front ends. What a token's
// holder may do is not decided here. The package has no goroutine, and is safe for concurrent use. It uses the network
// in [Discover] only, logs nothing, and no error holds a token or a secret.
package entra
