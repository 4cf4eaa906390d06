// Command sbom writes a CycloneDX document that lists the modules in a Go binary, as the linker recorded them.
//
//	go run . BINARY VERSION DOCUMENT
package main

import (
	"debug/buildinfo"
	"fmt"
	"net/url"
	"os"
	"runtime/debug"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: sbom BINARY VERSION DOCUMENT")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func write(binary, version, document string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return fmt.Errorf("read the modules of %s: %w", binary, err)
	}
	f, err := os.Create(document)
	if err != nil {
		return fmt.Errorf("write the document: %w", err)
	}
	err = cyclonedx.NewBOMEncoder(f, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom(info, version))
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("write the document: %w", err)
	}
	return nil
}

// bom has neither a serial number nor a time, so that the same binary gives the same document. The version is an argument because
// the go command does not record what the linker is told with -trimpath.
func bom(info *debug.BuildInfo, version string) *cyclonedx.BOM {
	main := component(cyclonedx.ComponentTypeApplication, info.Main.Path, version)
	modules := []cyclonedx.Component{component(cyclonedx.ComponentTypeLibrary, "stdlib", strings.TrimPrefix(info.GoVersion, "go"))}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		modules = append(modules, component(cyclonedx.ComponentTypeLibrary, m.Path, m.Version))
	}
	needs := make([]string, len(modules))
	for i := range modules {
		needs[i] = modules[i].BOMRef
	}
	b := cyclonedx.NewBOM()
	b.Metadata = &cyclonedx.Metadata{Component: &main}
	b.Components = &modules
	b.Dependencies = &[]cyclonedx.Dependency{{Ref: main.BOMRef, Dependencies: &needs}}
	return b
}

// component describes a module by its package URL, by which scanners find known vulnerabilities.
func component(kind cyclonedx.ComponentType, path, version string) cyclonedx.Component {
	purl := "pkg:golang/" + path
	if version != "" {
		purl += "@" + url.QueryEscape(version)
	}
	return cyclonedx.Component{Type: kind, BOMRef: purl, PackageURL: purl, Name: path, Version: version}
}
