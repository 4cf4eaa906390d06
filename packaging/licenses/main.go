// Command licenses writes the licences of what is in the binary and not of this project: of the standard library, of the Go modules, and of the
// explorer's packages, whose texts are in explorer.txt. Run it in its directory; modules have to be in the module cache.
//
//	go run . FILE
//	go run . -explorer explorer.txt     writes that anew, after npm ci in mgmt/ui
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// root is the directory of the project.
const root = "../.."

func main() {
	err := errors.New("usage: licenses FILE, or licenses -explorer FILE")
	switch args := os.Args[1:]; {
	case len(args) == 1 && !strings.HasPrefix(args[0], "-"):
		err = write(args[0], ofBinary)
	case len(args) == 2 && args[0] == "-explorer":
		err = write(args[1], ofExplorer)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "licenses:", err)
		os.Exit(1)
	}
}

func write(file string, texts func() ([]byte, error)) error {
	text, err := texts()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}

// isLicense matches the names of files that have to go with a binary.
var isLicense = regexp.MustCompile(`(?i)^(un)?licen[sc]e|^notice|^copying|^patents`)

// part is a thing with licences of its own.
type part struct {
	name  string // with its version
	files []string
}

// put writes a heading and the texts of a part.
func (p *part) put(b *bytes.Buffer) error {
	if len(p.files) == 0 {
		return fmt.Errorf("%s has no licence", p.name)
	}
	fmt.Fprintf(b, "%s\n%s\n%[1]s\n\n", strings.Repeat("=", 78), p.name)
	for _, file := range p.files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		text = bytes.TrimSpace(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")))
		fmt.Fprintf(b, "%s\n\n", text)
	}
	return nil
}

// ofBinary returns the licences of a binary for any of the released platforms.
func ofBinary() ([]byte, error) {
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("ask where Go is: %w", err)
	}
	parts := []part{{"The standard library of Go", licensesIn(strings.TrimSpace(string(goroot)))}}
	modules, err := modules()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString("Minibus has the licence in the file LICENSE. This file has those of the parts of it that others wrote.\n\n")
	for _, p := range append(parts, modules...) {
		if err := p.put(&b); err != nil {
			return nil, err
		}
	}
	explorer, err := os.ReadFile("explorer.txt")
	return append(b.Bytes(), explorer...), err
}

// listed has what is read of a package.
type listed struct {
	Dir    string
	Module *struct {
		Path, Version, Dir string
		Main               bool
	}
}

// modules returns the modules of which a package is in a binary, by path. Their licences are those beside such a package or above it.
func modules() ([]part, error) {
	found := make(map[string]map[string]bool) // the files, by the name of the module
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, arch := range []string{"amd64", "arm64"} {
			list := exec.Command("go", "list", "-deps", "-json=Dir,Module", "./cmd/minibus")
			list.Dir, list.Stderr = root, os.Stderr
			list.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0")
			out, err := list.Output()
			if err != nil {
				return nil, fmt.Errorf("list the packages for %s: %w", system, err)
			}
			for d := json.NewDecoder(bytes.NewReader(out)); ; {
				var p listed
				if err := d.Decode(&p); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					return nil, fmt.Errorf("read the packages: %w", err)
				}
				if m := p.Module; m != nil && !m.Main {
					name := m.Path + " " + m.Version
					if found[name] == nil {
						found[name] = make(map[string]bool)
					}
					for dir := p.Dir; strings.HasPrefix(dir, m.Dir); dir = filepath.Dir(dir) {
						for _, file := range licensesIn(dir) {
							found[name][file] = true
						}
					}
				}
			}
		}
	}
	return sorted(found), nil
}

func sorted(found map[string]map[string]bool) (parts []part) {
	for name, files := range found {
		p := part{name: name}
		for file := range files {
			p.files = append(p.files, file)
		}
		slices.Sort(p.files)
		parts = append(parts, p)
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.name, b.name) })
	return parts
}

func licensesIn(dir string) (files []string) {
	entries, _ := os.ReadDir(dir) // put says what has none
	for _, e := range entries {
		if e.Type().IsRegular() && isLicense.MatchString(e.Name()) && filepath.Ext(e.Name()) != ".go" {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	return files
}

// ofExplorer returns the licences of the packages that package-lock.json has for the explorer.
func ofExplorer() ([]byte, error) {
	const ui = root + "/mgmt/ui/"
	text, err := os.ReadFile(ui + "package-lock.json")
	if err != nil {
		return nil, err
	}
	var lock struct {
		Packages map[string]struct {
			Version string
			Dev     bool
		}
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		return nil, fmt.Errorf("read package-lock.json: %w", err)
	}
	found := make(map[string]map[string]bool)
	for path, p := range lock.Packages {
		if name := strings.TrimPrefix(path, "node_modules/"); path != "" && !p.Dev {
			files := make(map[string]bool)
			for _, file := range licensesIn(ui + path) {
				files[file] = true
			}
			found[name+" "+p.Version] = files
		}
	}
	var b bytes.Buffer
	for _, p := range sorted(found) {
		if err := p.put(&b); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}
