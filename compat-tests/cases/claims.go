package cases

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// suites are the directories of compat-tests whose tests claim behaviours, with their columns.
var suites = map[string]string{"go": "go", "js": "js", "python": "python", "java": "java", "dotnet": "dotnet"}

// A Claim says that a test of a file proves a behaviour.
type Claim struct {
	Column, ID, File string // File is relative to the root of the repository
	Line             int
}

var (
	sources = regexp.MustCompile(`\.(go|mjs|py|java|cs)$`)
	// call is proves(t, "a.b", "c.d") in any of the languages, an annotation or a decorator too, or provesAnywhere.
	call = callOf(`(?i:proves(?:Anywhere)?)`)
	// anywhere is a call that claims it of any namespace.
	anywhere = callOf(`provesAnywhere`)
	text     = regexp.MustCompile(`"([^"\n]*)"`)
)

func callOf(name string) *regexp.Regexp {
	return regexp.MustCompile(`\b` + name + `\(\{?(?:\w+,)?((?:\s*"[^"\n]*"\s*,?)+)\s*\}?\)`)
}

// notSources are directories with what tools make or install.
var notSources = []string{"node_modules", "target", "__pycache__", "bin", "obj"}

// Claims finds what the sources of the suites claim.
func Claims(root string) ([]Claim, error) {
	var all []Claim
	for dir, column := range suites {
		find := func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && slices.Contains(notSources, entry.Name()):
				return fs.SkipDir
			case entry.IsDir() || !sources.MatchString(path):
				return nil
			}
			source, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			file, err := filepath.Rel(root, path)
			all = append(all, claimsIn(call, column, filepath.ToSlash(file), string(source))...)
			return err
		}
		if err := filepath.WalkDir(filepath.Join(root, "compat-tests", dir), find); err != nil {
			return nil, fmt.Errorf("look for claims: %w", err)
		}
	}
	samples, err := samples(root)
	return append(all, samples...), err
}

// samplesFile holds messages that every SDK sends to every other one. Its ids are claims of all that can send such a
// message.
const samplesFile = "compat-tests/exchange/samples.json"

var sampleID = regexp.MustCompile(`"id": "([a-z]+\.[a-z]+)"`)

func samples(root string) ([]Claim, error) {
	list, err := Cases()
	if err != nil {
		return nil, err
	}
	source, err := os.ReadFile(filepath.Join(root, samplesFile))
	if err != nil {
		return nil, fmt.Errorf("look for claims: %w", err)
	}
	var claims []Claim
	for _, at := range sampleID.FindAllSubmatchIndex(source, -1) {
		id := string(source[at[2]:at[3]])
		c, _ := list.Find(id)
		line := 1 + bytes.Count(source[:at[0]], []byte("\n"))
		for _, column := range []string{"go", "js", "python", "java"} {
			if c.Excluded[column] == "" {
				claims = append(claims, Claim{Column: column, ID: id, File: samplesFile, Line: line})
			}
		}
	}
	return claims, nil
}

func claimsIn(call *regexp.Regexp, column, file, source string) []Claim {
	var claims []Claim
	for _, at := range call.FindAllStringSubmatchIndex(source, -1) {
		for _, id := range text.FindAllStringSubmatchIndex(source[at[2]:at[3]], -1) {
			line := 1 + strings.Count(source[:at[2]+id[0]], "\n")
			name := source[at[2]+id[2] : at[2]+id[3]]
			claims = append(claims, Claim{Column: column, ID: name, File: file, Line: line})
		}
	}
	return claims
}
