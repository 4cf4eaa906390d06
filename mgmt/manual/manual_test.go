package manual

import (
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"strings"
	"testing"

	"minibus/docs"
)

func get(t *testing.T, name string, status int) string {
	t.Helper()
	w := httptest.NewRecorder()
	http.StripPrefix("/", Handler()).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/"+name, nil))
	if w.Code != status {
		t.Errorf("%s: status %d, want %d", name, w.Code, status)
	}
	return w.Body.String()
}

var (
	hrefs = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	ids   = regexp.MustCompile(` id="([^"]*)"`)
)

// TestLinksHold follows each link of each page to a page, an anchor or an image.
func TestLinksHold(t *testing.T) {
	bodies, anchors := make(map[string]string), make(map[string]bool)
	for name := range pages() {
		bodies[name] = get(t, name, 200)
		for _, id := range ids.FindAllStringSubmatch(bodies[name], -1) {
			anchors[name+"#"+id[1]] = true
		}
	}
	for name, body := range bodies {
		for _, href := range hrefs.FindAllStringSubmatch(body, -1) {
			to := href[1]
			switch file, anchor, _ := strings.Cut(to, "#"); {
			case strings.Contains(to, "://"), strings.HasPrefix(to, "/"), to == "page.css", to == "./":
			case strings.HasPrefix(to, "images/"):
				get(t, to, 200)
			case file != "" && bodies[file] == "":
				t.Errorf("%s: no page for the link %s", name, to)
			case anchor != "" && !anchors[file+"#"+anchor] && !anchors[name+file+"#"+anchor]:
				t.Errorf("%s: no heading for the link %s", name, to)
			}
		}
	}
}

// TestNavigationHasEveryPage compares the list of docs/README.md with the files.
func TestNavigationHasEveryPage(t *testing.T) {
	listed := make(map[string]bool)
	for _, g := range pages()[index].groups {
		for _, l := range g.Links {
			listed[l.Name] = true
		}
	}
	for name := range pages() {
		if name != index && !listed[name] {
			t.Errorf("docs/README.md does not list %s.md", name)
		}
	}
}

func TestPage(t *testing.T) {
	body := get(t, "clock", 200)
	for _, want := range []string{`<h1 id="`, `aria-current="page"`, "<title>", `href="explorer"`} {
		if !strings.Contains(body, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	get(t, "clock.md", 200)
	if body := get(t, "none", 404); !strings.Contains(body, "No such page") || !strings.Contains(body, `href="clock"`) {
		t.Error("a missing page does not lead to the others")
	}
	get(t, "images/none.png", 404)
	get(t, "doc.go", 404)
	get(t, "images/../doc.go", 404)
}

// TestSearch wants the page about a thing first, every word in each hit, and no markup from the query.
func TestSearch(t *testing.T) {
	hits := search("snapshot restore")
	if len(hits) == 0 || hits[0].Page != "snapshots" {
		t.Fatalf("search for a snapshot's restore: %+v", hits)
	}
	if len(search("snapshot zyxwv")) > 0 || len(search(" ")) > 0 {
		t.Error("a search without a hit has one")
	}
	if body := get(t, "search?q=%3Cb%3Ehello", 200); strings.Contains(body, "<b>") {
		t.Error("the query is markup on the page")
	}
	long := strings.Repeat("a ", 10_000)
	get(t, "search?q="+strings.ReplaceAll(long, " ", "+"), 200)
	for _, query := range []string{"Ä", "…", "İ", strings.Repeat("ß", 150)} {
		search(query) // must not cut a rune in two or beyond the end
	}
}

// TestSearchFindsThePage has what people look for, with the page or the section that answers.
func TestSearchFindsThePage(t *testing.T) {
	for query, want := range map[string]string{
		"Jest":              "javascript#jest",
		"JUnit":             "java#junit",
		"MassTransit":       "dotnet#frameworks",
		"xunit":             "dotnet#tests",
		"Functions":         "dotnet#azure-functions",
		"dead letter":       "jobs#dead-letters",
		"dead-letter":       "jobs#dead-letters",
		"certificate":       "troubleshooting#the-client-does-not-trust-the-certificate",
		"certificates":      "security#certificates",
		"TLS":               "connect#tls",
		"WebSockets":        "connect#websockets",
		"connection string": "connect#connection-strings",
		"CI":                "ci#continuous-integration",
		"in process":        "go#tests-in-process",
		"port":              "troubleshooting#a-port-is-in-use",
		"Config.json":       "configuration#configjson",
	} {
		hits := search(query)
		if len(hits) == 0 {
			t.Errorf("%s: no hit, want %s", query, want)
		} else if first := hits[0].Page + "#" + hits[0].ID; first != want {
			t.Errorf("%s: the first hit is %s, want %s", query, first, want)
		}
	}
}

// TestSmall bounds what the pages add to the program.
func TestSmall(t *testing.T) {
	sum := int64(0)
	err := fs.WalkDir(docs.Files, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		sum += info.Size()
		if path.Ext(file) != ".md" && imageKinds[path.Ext(file)] == "" {
			t.Errorf("%s is embedded and can't be shown", file)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if sum > 3<<20 {
		t.Errorf("the pages take %d bytes, more than 3 MiB", sum)
	}
}
