// Package docs embeds the pages, so that Minibus shows them offline.
package docs

import "embed"

// Files are the pages and their images.
//
//go:embed *.md images
var Files embed.FS
