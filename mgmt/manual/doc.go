// Package manual serves the pages of docs/ as HTML, with a search. The explorer links to them, and they need no
// network.
//
// The navigation is the list in docs/README.md. Links to files that are not embedded, such as sources, lead to the
// repository; before Minibus is published they are plain text.
package manual
