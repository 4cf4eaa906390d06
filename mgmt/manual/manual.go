package manual

import (
	_ "embed"
	"html/template"
	"net/http"
	"path"
	"strings"
	"time"

	"minibus/docs"
)

var (
	//go:embed page.html
	layout string
	//go:embed page.css
	style string
)

var frame = template.Must(template.New("page").Parse(layout))

// policy lets a page load its style and images and search here, and nothing else.
const policy = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; " +
	"frame-ancestors 'none'"

// view is what the frame shows.
type view struct {
	*page
	Groups []group
	Query  string
	Hits   []hit
}

// Handler serves the list of all pages at the empty path, each page by its name, the search and the images.
func Handler() http.Handler { return http.HandlerFunc(serve) }

func serve(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Path
	head := w.Header()
	head.Set("Content-Security-Policy", policy)
	head.Set("Referrer-Policy", "no-referrer")
	head.Set("Cache-Control", "no-cache")
	switch {
	case name == "page.css":
		head.Set("Content-Type", "text/css; charset=utf-8")
		http.ServeContent(w, r, name, time.Time{}, strings.NewReader(style))
		return
	case strings.HasPrefix(name, "images/"):
		if kind := imageKinds[path.Ext(name)]; kind != "" {
			head.Set("Content-Type", kind)
			http.ServeFileFS(w, r, docs.Files, name)
			return
		}
	case name == "search":
		query := r.FormValue("q")
		show(w, http.StatusOK, view{page: &page{Title: "Search"}, Query: query, Hits: search(query)})
		return
	case name == "":
		name = index
	}
	p := pages()[strings.TrimSuffix(name, ".md")]
	if p == nil {
		missing := &page{Title: "No such page"}
		missing.HTML = "<h1>No such page</h1><p>Search, or choose one from the list.</p>"
		show(w, http.StatusNotFound, view{page: missing})
		return
	}
	show(w, http.StatusOK, view{page: p})
}

// imageKinds are the content types of images. The machine's tables may lack them.
var imageKinds = map[string]string{".png": "image/png", ".svg": "image/svg+xml"}

func show(w http.ResponseWriter, status int, v view) {
	v.Groups = pages()[index].groups
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_ = frame.Execute(w, v) // the client is gone if this fails
}
