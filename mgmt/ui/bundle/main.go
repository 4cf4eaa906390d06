package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	out := flag.String("out", "files", "the directory to write into")
	flag.Parse()
	err := os.Chdir("..")
	if err == nil {
		err = bundle(*out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func bundle(out string) error {
	if err := build(api.BuildOptions{
		EntryPoints: []string{"src/app.tsx", "src/app.css", "src/editor.ts"},
		External:    []string{"./editor.js"}, // loaded when a text is edited; one name, so that it replaces the old one
		Outdir:      out, Bundle: true, Write: true, Format: api.FormatESModule,
		LegalComments: api.LegalCommentsEndOfFile, JSX: api.JSXAutomatic, JSXImportSource: "preact",
		LineLimit: 200, // so that changes of the bundle are small
	}, nil); err != nil {
		return err
	}
	return page(out)
}

// page writes index.html, with the style and the icon of the first paint in it: a request for either would delay that.
func page(out string) error {
	var style []byte
	if err := build(api.BuildOptions{EntryPoints: []string{"src/first.css"}}, &style); err != nil {
		return err
	}
	html, err := os.ReadFile("src/index.html")
	if err != nil {
		return err
	}
	icon, err := os.ReadFile("files/icon.svg")
	if err != nil {
		return err
	}
	text := strings.NewReplacer("{style}", strings.TrimSpace(string(style)), "{icon}",
		strings.TrimSpace(string(icon))).Replace(string(html))
	return os.WriteFile(filepath.Join(out, "index.html"), []byte(text), 0o644)
}

// build runs esbuild. If into is not nil, it gets the only file made.
func build(o api.BuildOptions, into *[]byte) error {
	o.Target = api.ES2022
	o.Charset = api.CharsetUTF8
	o.LogLevel = api.LogLevelWarning
	o.MinifyWhitespace = true
	o.MinifyIdentifiers = true
	o.MinifySyntax = true
	result := api.Build(o)
	if n := len(result.Errors); n > 0 {
		return fmt.Errorf("bundle the explorer: %d errors", n)
	}
	if into != nil {
		*into = result.OutputFiles[0].Contents
	}
	return nil
}
