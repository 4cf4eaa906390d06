package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// chaptered is the package that is large enough for chapters. Its doc.go lists them with their files, in an order.
const chaptered = "emulator"

// typeUse is a file that names a type.
type typeUse struct{ file, name string }

// maxUpward is how many uses may run upward, to a type of a chapter below in the list.
const maxUpward = 10

// upward are the uses that may, each with its reason.
var upward = map[typeUse]string{
	{"entity.go", "schedule"}:     "the entity holds its parts by value",
	{"entity.go", "requeues"}:     "the entity holds its parts by value",
	{"entity.go", "forwarder"}:    "the entity holds its parts by value",
	{"entity.go", "Topic"}:        "links hold an Entity, which leads to what only a topic can do",
	{"entity.go", "Subscription"}: "links hold an Entity, which leads to what only a subscription can do",
	{"entry.go", "session"}:       "an entry leads to its session without a look-up, and the session table to the entity",
	{"entry.go", "Consumer"}:      "a lock tells its holder that it has ended",
	{"entry.go", "Transaction"}:   "a lock tells the transaction that was to settle it that it has ended",
	{"session.go", "Consumer"}:    "a session tells its holder that it has lost it",
	{"settle.go", "Transaction"}:  "a transaction renews the locks of what it will settle, as a client renews others",
}

// TestChaptersRunDown compares the uses that run upward with the table, in both directions.
func TestChaptersRunDown(t *testing.T) {
	if len(upward) > maxUpward {
		t.Errorf("the table allows %d uses that run upward, more than %d", len(upward), maxUpward)
	}
	fset, files := parseChaptered(t)
	chapters := readChapters(t, files)
	found := make(map[typeUse]bool)
	for use, declaredIn := range typeUses(t, fset, files) {
		if chapters[use.file] >= chapters[declaredIn] {
			continue
		}
		found[use] = true
		if _, may := upward[use]; !may {
			t.Errorf("%s names %s of %s, which is in a later chapter", use.file, use.name, declaredIn)
		}
	}
	for use := range upward {
		if !found[use] {
			t.Errorf("the table allows that %s names %s, which does not run upward", use.file, use.name)
		}
	}
}

// TestChaptersAreComplete wants each file in one chapter, and no chapter to list a file that does not exist.
func TestChaptersAreComplete(t *testing.T) {
	_, files := parseChaptered(t)
	chapters := readChapters(t, files)
	for file := range chapters {
		if files[file] == nil {
			t.Errorf("doc.go lists %s, which does not exist", file)
		}
	}
	for file := range files {
		if _, listed := chapters[file]; !listed && file != "doc.go" {
			t.Errorf("%s is in no chapter of doc.go", file)
		}
	}
}

// parseChaptered returns the files of the package without its tests, by name.
func parseChaptered(t *testing.T) (*token.FileSet, map[string]*ast.File) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(moduleRoot(t), chaptered, "*.go"))
	if err != nil {
		t.Fatalf("list source: %v", err)
	}
	fset, files := token.NewFileSet(), make(map[string]*ast.File)
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
		if err != nil {
			t.Fatalf("parse source: %v", err)
		}
		files[filepath.Base(path)] = file
	}
	return fset, files
}

var fileName = regexp.MustCompile(`\w+\.go\b`)

// readChapters returns the place of each file's chapter in the order of doc.go.
func readChapters(t *testing.T, files map[string]*ast.File) map[string]int {
	t.Helper()
	if files["doc.go"] == nil {
		t.Fatal("no doc.go")
	}
	_, list, _ := strings.Cut(files["doc.go"].Doc.Text(), "# Chapters\n")
	items := strings.Split(list, "\n  - ")
	if len(items) < 3 {
		t.Fatal("doc.go lists no chapters")
	}
	chapters := make(map[string]int)
	for i, item := range items[1:] {
		for _, file := range fileName.FindAllString(item, -1) {
			if _, twice := chapters[file]; twice {
				t.Errorf("doc.go lists %s twice", file)
			}
			chapters[file] = i
		}
	}
	return chapters
}

// typeUses returns which file names which of the package's own types, with the file that declares it.
func typeUses(t *testing.T, fset *token.FileSet, files map[string]*ast.File) map[typeUse]string {
	t.Helper()
	info := &types.Info{Uses: make(map[*ast.Ident]types.Object)}
	// What other packages declare does not count, so they are empty: to check them as well would take seconds.
	conf := types.Config{Importer: emptyPackages{}, Error: func(error) {}}
	p, _ := conf.Check(module+"/"+chaptered, fset, slices.Collect(maps.Values(files)), info)
	fileOf := func(at token.Pos) string { return filepath.Base(fset.Position(at).Filename) }
	uses := make(map[typeUse]string)
	for identifier, object := range info.Uses {
		if _, isType := object.(*types.TypeName); isType && object.Parent() == p.Scope() {
			uses[typeUse{fileOf(identifier.Pos()), object.Name()}] = fileOf(object.Pos())
		}
	}
	return uses
}

// emptyPackages is an importer of packages without declarations.
type emptyPackages struct{}

// Import implements types.Importer.
func (emptyPackages) Import(path string) (*types.Package, error) {
	p := types.NewPackage(path, filepath.Base(path))
	p.MarkComplete()
	return p, nil
}
