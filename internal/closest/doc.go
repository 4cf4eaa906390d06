// Package closest guesses which of some words was meant by another one. It is a pure function of config, mgmt/control and others for
// their errors, which only suggest a guess and never act on it. It has no goroutines.
package closest
