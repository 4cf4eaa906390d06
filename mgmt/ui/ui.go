package ui

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"mime"
	"net/http"
	"path"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Prefix begins the paths of the script and the style. No entity's name can begin with $.
const Prefix = "/$minibus/ui/"

//go:embed files
var files embed.FS

// file is a file as it is served.
type file struct {
	text []byte
	kind string // its content type
	tag  string // its ETag
}

var served = load()

// policy lets the page run its own script and use its own style, and talk to the server that it came from. The
// scripts and most of the style are files; what is painted first is one style in the page, named here by its hash.
// What came in a message can neither run nor load anything, even if it became markup by mistake.
var policy = "default-src 'none'; script-src 'self'; style-src 'self' '" + hashOfStyle(served["index.html"].text) +
	"'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// hashOfStyle returns the source expression of a policy for the only style in a page.
func hashOfStyle(page []byte) string {
	_, rest, _ := bytes.Cut(page, []byte("<style>"))
	style, _, _ := bytes.Cut(rest, []byte("</style>"))
	sum := sha256.Sum256(style)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// load reads all files. It panics if it can't, since they are part of the program.
func load() map[string]file {
	all := make(map[string]file)
	entries, err := files.ReadDir("files")
	if err != nil {
		panic(err)
	}
	for _, e := range entries {
		text, err := files.ReadFile(path.Join("files", e.Name()))
		if err != nil {
			panic(err)
		}
		if e.Name() == "index.html" {
			text = withIssues(text, reflect.TypeFor[file]().PkgPath())
		}
		sum := sha256.Sum256(text)
		all[e.Name()] = file{text, contentType(e.Name()), strconv.Quote(base64.RawURLEncoding.EncodeToString(sum[:12]))}
	}
	return all
}

// withIssues tells the page where the project takes issues: at the repository that the module is named after, which
// packaging/publish-as does. A module without an address has no such place. pkg is the path of this package.
func withIssues(page []byte, pkg string) []byte {
	parts := strings.Split(pkg, "/")
	if parts[0] != "github.com" {
		return page
	}
	meta := `<meta name="issues" content="https://` + strings.Join(parts[:3], "/") + `/issues">`
	return bytes.Replace(page, []byte("<title>"), []byte(meta+"\n<title>"), 1)
}

const icon = "image/svg+xml"

// contentType does not ask the machine, whose tables may call a script a text.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return icon
	default:
		return "application/octet-stream"
	}
}

// Page serves the explorer.
func Page(w http.ResponseWriter, r *http.Request) {
	w.Header().Add("Vary", "Accept, Authorization") // others get the service's document there
	serve(w, r, "index.html")
}

// Serve serves the files below [Prefix].
func Serve(w http.ResponseWriter, r *http.Request) {
	serve(w, r, strings.TrimPrefix(r.URL.Path, Prefix))
}

// serve answers with a file. A browser keeps it, and asks each time whether it is still the same: a newer Minibus
// must not run an older script.
func serve(w http.ResponseWriter, r *http.Request, name string) {
	f, ok := served[name]
	if !ok {
		http.Error(w, "The explorer has no such file. Open / instead.", http.StatusNotFound)
		return
	}
	head := w.Header()
	head.Set("Content-Type", f.kind)
	head.Set("Content-Security-Policy", policy)
	head.Set("Referrer-Policy", "no-referrer")
	head.Set("Cache-Control", "no-cache")
	if f.kind == icon {
		head.Set("Cache-Control", "max-age=86400") // browsers ask for it at each step
	}
	head.Set("ETag", f.tag)
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(f.text))
}

// Wanted reports whether a request for / is from a browser that shows it to a person, and not from a client of the
// service: it prefers HTML to all else, and has neither a token nor the version of an API.
func Wanted(r *http.Request) bool {
	if r.Header.Get("Authorization") != "" || r.URL.Query().Has("api-version") {
		return false
	}
	html, others := 0.0, 0.0
	for _, accept := range r.Header["Accept"] {
		for part := range strings.SplitSeq(accept, ",") {
			kind, parameters, err := mime.ParseMediaType(part)
			if err != nil {
				continue
			}
			q, err := strconv.ParseFloat(parameters["q"], 64)
			if err != nil {
				q = 1
			}
			switch kind {
			case "text/html":
				html = q
			case "application/xml", "text/xml", "application/atom+xml", "application/json":
				others = max(others, q)
			}
		}
	}
	return html > 0 && html >= others
}
