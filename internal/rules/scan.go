package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// groups lists the letters that a rule id can start with.
var groups = []string{
	"SEQ", "TIME", "SCHED", "ORD", "PEEK", "LOCK", "RAD", "DC", "DLQ", "EXP", "DEF", "SESS", "DUP", "FWD", "TXN", "TOP",
	"PART", "STAT", "IDLE", "DEL", "QUO", "CNT", "BDEL", "PRE", "PROP", "ERR", "JMS", "DEC",
}

// idInName finds an id in a test's name. The longest group wins (BDEL before DEL), and an id does not start in the
// middle of a word in capitals.
var idInName = regexp.MustCompile(`(?:^|[^A-Z])(` + strings.Join(byLength(groups), "|") + `)(R?)(\d+)`)

func byLength(names []string) []string {
	sorted := slices.Clone(names)
	slices.SortFunc(sorted, func(a, b string) int { return len(b) - len(a) })
	return sorted
}

// idsIn returns the rule ids in a test's name, as docs/rules.md writes them: LOCK-4, DLQ-R1.
func idsIn(testName string) []string {
	var ids []string
	rest := testName
	for {
		m := idInName.FindStringSubmatchIndex(rest)
		if m == nil {
			return ids
		}
		id := rest[m[2]:m[3]] + "-" + rest[m[4]:m[5]] + rest[m[6]:m[7]]
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
		rest = rest[m[7]:]
	}
}

// scanTests maps rule ids to tests ("package.TestName", sorted), from every _test.go file below root.
func scanTests(root string) (map[string][]string, error) {
	found := make(map[string][]string)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name := entry.Name(); path != root && (strings.HasPrefix(name, ".") || name == "node_modules" ||
				name == "testdata") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		return scanFile(root, path, found)
	})
	if err != nil {
		return nil, fmt.Errorf("scan tests below %s: %w", root, err)
	}
	for id, tests := range found {
		slices.Sort(tests)
		found[id] = slices.Compact(tests)
	}
	return found, nil
}

func scanFile(root, path string, found map[string][]string) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("parse %s: %w", path, err)
	}
	dir, err := filepath.Rel(root, filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("locate %s: %w", path, err)
	}
	for _, decl := range file.Decls {
		function, ok := decl.(*ast.FuncDecl)
		if !ok || function.Recv != nil || !strings.HasPrefix(function.Name.Name, "Test") {
			continue
		}
		for _, id := range idsIn(function.Name.Name) {
			found[id] = append(found[id], filepath.ToSlash(dir)+"."+function.Name.Name)
		}
	}
	return nil
}
