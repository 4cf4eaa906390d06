// Package ui is the explorer: the page that a browser gets at /, with its scripts and style. The sources are in src,
// in TypeScript with Preact. The command bundle makes of them what is in files, which is embedded here; so nothing
// has to be built to run or build Minibus.
//
//	npm ci && go generate ./mgmt/ui
//
// The page knows Minibus through the control API alone, as any other client does. Package mgmt calls [Page] and
// [Serve], which own no goroutine.
package ui

//go:generate go -C bundle run .
