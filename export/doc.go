// Package export reads the entities of a namespace, in Azure or in a Minibus, through the administration API, and
// writes a file that makes the same entities again: a Config.json for Minibus, a Bicep module or a Terraform module
// for Azure.
//
// [Read] fetches, [Write] renders; package server/command calls both for the command minibus export. [Of] takes the
// entities of this process instead, for package server and the control API. Read trusts no server.
// It limits the size and the number of answers. It follows no redirection, so that a token goes only to the host that
// it was made for. No output and no error has the key or a token. Read does not keep the keys of authorization rules.
//
// Output is sorted, so that two exports of the same entities are the same bytes. If a format can't express something,
// Write adds a warning, and a comment where the format has comments. A rule that a format can't express becomes one
// that selects nothing, never one that selects everything.
//
// The goroutines of Read end before it returns. The package starts no server. It reads one file, the certificate of
// an authority to trust ([Options]), and writes none.
package export
