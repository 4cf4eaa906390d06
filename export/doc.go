// Package export reads the entities of a namespace, Azure's or a Minibus's, through the administration API, and writes
// what makes the same entities again: a Config.json for Minibus, a Bicep module or a Terraform module for Azure.
//
// [Read] fetches, [Write] renders; the command minibus export calls both. Reading trusts nobody: answers are bounded in size
// and number, redirections are not followed, so that a token goes to the host that it was made for and to no other, and
// neither the key nor a token ever stands in an output or an error. Keys of authorization rules are not even kept.
//
// Output is sorted, so that two exports of the same entities are the same bytes. What a format can't say becomes a warning,
// and a comment where the format has comments; a rule that can't be said becomes one that takes nothing, never one that
// takes everything.
//
// The goroutines of Read end before it returns. The package starts no server and touches no file.
package export
