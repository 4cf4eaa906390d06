package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	out := flag.String("out", "files", "the directory to write into")
	flag.Parse()
	if err := bundle(*out); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func bundle(out string) error {
	result := api.Build(api.BuildOptions{
		EntryPoints: []string{"src/app.tsx", "src/app.css", "src/editor.ts"},
		External:    []string{"./editor.js"}, // what the page loads when a text is edited; under one name, so that it replaces the one before
		Outdir:      out, Bundle: true, Write: true, Format: api.FormatESModule, Target: api.ES2022, Charset: api.CharsetUTF8,
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true, LegalComments: api.LegalCommentsEndOfFile,
		JSX: api.JSXAutomatic, JSXImportSource: "preact", LogLevel: api.LogLevelWarning,
		LineLimit: 200, // so that changes of the bundle are small
	})
	if n := len(result.Errors); n > 0 {
		return fmt.Errorf("bundle the explorer: %d errors", n)
	}
	return nil
}
