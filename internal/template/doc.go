// Package template evaluates templates of the Azure Resource Manager, as az bicep build writes them: expressions,
// functions, parameters, variables and loops. Package config reads the entities of a file with it and tolerates what
// only Azure knows; package mgmt/arm deploys with it and tolerates nothing.
//
// A value that can't be told is unknown and carries why, also inside a text that is made of it. Whoever tolerates
// nothing looks for such values in what was evaluated.
//
// The package has no goroutine. A [Template] is for one goroutine, bounds its work, and neither keeps nor logs values.
package template
