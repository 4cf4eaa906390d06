// Package recipes runs the recipes of the platform pages, such as docs/go.md: test suites whose workers each have a namespace of their
// own in one Minibus.
//
// The code comes from the page. Beside it each suite has tests of this package's, which put messages into queues of the same name at
// the same time and look that none sees another's.
package recipes
