package manual

import (
	"bytes"
	"html/template"
	"io/fs"
	"path"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"minibus/docs"
)

// repository is where the sources are published; packaging/publish-as names it.
const repository = "OWNER/minibus"

// index is the page that lists all pages.
const index = "README"

// page is a page of the docs.
type page struct {
	Name     string // of its file, without .md
	Title    string
	HTML     template.HTML
	sections []section
	groups   []group // of the links on it, for the navigation
}

// section is the text below a heading, without that of the headings in it.
type section struct {
	ID      string
	Heading string
	level   int
	text    string
}

// group is a heading of the navigation with its pages.
type group struct {
	Title string
	Links []link
}

type link struct{ Name, Title string }

// pages renders all pages once, when somebody first asks for one.
var pages = sync.OnceValue(func() map[string]*page {
	files, err := fs.Glob(docs.Files, "*.md")
	if err != nil {
		panic(err) // the pattern is wrong
	}
	all := make(map[string]*page)
	for _, file := range files {
		source, err := docs.Files.ReadFile(file)
		if err != nil {
			panic(err) // the files are part of the program
		}
		p := render(strings.TrimSuffix(file, ".md"), source)
		all[p.Name] = p
	}
	return all
})

var markdown = goldmark.New(
	goldmark.WithExtensions(extension.GFM),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()),
	goldmark.WithRendererOptions(html.WithUnsafe()), // the pages are part of the program
)

// render makes HTML of a page.
func render(name string, source []byte) *page {
	p := &page{Name: name}
	context := parser.NewContext(parser.WithIDs(anchors{}))
	tree := markdown.Parser().Parse(text.NewReader(source), parser.WithContext(context))
	var unlinked []*ast.Link
	_ = ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			p.heading(n, source)
		case *east.TableHeader:
			if first := words(n.FirstChild(), source); first != "" && name == index {
				p.groups = append(p.groups, group{Title: first})
			}
		case *ast.Link:
			p.list(string(n.Destination), words(n, source))
			if to, ok := resolve(string(n.Destination)); ok {
				n.Destination = []byte(to)
			} else {
				unlinked = append(unlinked, n)
			}
		}
		if n.Type() == ast.TypeBlock && n.Kind() != ast.KindHeading && len(p.sections) > 0 {
			last := &p.sections[len(p.sections)-1]
			if own := words(n, source); n.FirstChild() == nil || n.FirstChild().Type() == ast.TypeInline {
				last.text += own + " "
			}
		}
		return ast.WalkContinue, nil
	})
	for _, n := range unlinked {
		for n.FirstChild() != nil {
			n.Parent().InsertBefore(n.Parent(), n, n.FirstChild())
		}
		n.Parent().RemoveChild(n.Parent(), n)
	}
	var out bytes.Buffer
	if err := markdown.Renderer().Render(&out, source, tree); err != nil {
		panic(err) // a buffer takes everything
	}
	p.HTML = template.HTML(out.String())
	return p
}

// heading begins a section. Headings below the second level belong to the section above.
func (p *page) heading(n *ast.Heading, source []byte) {
	s := section{Heading: words(n, source), level: n.Level}
	if id, ok := n.AttributeString("id"); ok {
		s.ID = string(id.([]byte))
	}
	p.sections = append(p.sections, s)
	if n.Level == 1 && p.Title == "" {
		p.Title = s.Heading
	}
	if n.Level == 2 && p.Name == index {
		p.groups = append(p.groups, group{Title: s.Heading})
	}
}

// list adds a link of the index to the navigation.
func (p *page) list(to, title string) {
	if name, ok := strings.CutSuffix(to, ".md"); ok && !strings.Contains(name, "/") && len(p.groups) > 0 {
		last := &p.groups[len(p.groups)-1]
		last.Links = append(last.Links, link{name, title})
	}
}

// Headings are the sections of the page's second level.
func (p *page) Headings() []section {
	var of []section
	for _, s := range p.sections {
		if s.level == 2 {
			of = append(of, s)
		}
	}
	return of
}

// resolve returns where a link of a page leads here, and false if it leads nowhere yet.
func resolve(to string) (string, bool) {
	file, anchor, _ := strings.Cut(to, "#")
	if anchor != "" {
		anchor = "#" + anchor
	}
	if file == "" || strings.Contains(file, "://") || strings.HasPrefix(file, "mailto:") {
		return to, true
	}
	if _, err := fs.Stat(docs.Files, path.Clean(file)); err == nil {
		name := strings.TrimSuffix(file, ".md")
		if name == index {
			name = "./"
		}
		return name + anchor, true
	}
	if strings.HasPrefix(repository, "OWNER/") {
		return "", false
	}
	return "https://github.com/" + repository + "/blob/main/" + path.Join("docs", file) + anchor, true
}

// words returns the text of a node, without marks.
func words(n ast.Node, source []byte) string {
	var out strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			out.Write(n.Value(source))
			if n.SoftLineBreak() {
				out.WriteByte(' ')
			}
		case *ast.String:
			out.Write(n.Value)
		case *ast.AutoLink:
			out.Write(n.Label(source))
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			out.Write(n.Lines().Value(source))
		}
		return ast.WalkContinue, nil
	})
	return strings.TrimSpace(out.String())
}

// anchors makes the ids of headings as forges do, so that a link holds in both places.
type anchors map[string]int

func (a anchors) Generate(heading []byte, _ ast.NodeKind) []byte {
	var id strings.Builder
	for _, r := range strings.ToLower(string(heading)) {
		switch {
		case r == ' ':
			id.WriteByte('-')
		case r == '-' || r == '_' || r > 127 || util.IsAlphaNumeric(byte(r)):
			id.WriteRune(r)
		}
	}
	name := id.String()
	a[name]++
	if n := a[name] - 1; n > 0 {
		name += "-" + string(rune('0'+n))
	}
	return []byte(name)
}

func (a anchors) Put([]byte) {}
