package ui

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"
)

// maxSize is how large all files together may be, compressed.
const maxSize = 250 << 10

func TestFilesAreSmall(t *testing.T) {
	var all bytes.Buffer
	z := gzip.NewWriter(&all)
	for _, f := range served {
		_, _ = z.Write(f.text)
	}
	_ = z.Close()
	if all.Len() > maxSize {
		t.Errorf("the files have %d bytes, compressed; allowed: %d", all.Len(), maxSize)
	}
}

// TestFilesLoadNothing: the page works offline. The policy would stop what is elsewhere or inline, and so break the page.
func TestFilesLoadNothing(t *testing.T) {
	elsewhere := regexp.MustCompile(`(?i)url\(|@import|src="(https?:)?//|href="(https?:)?//|\bimport\(|style=|\son\w+=`)
	for _, name := range []string{"index.html", "app.css"} {
		if found := elsewhere.Find(served[name].text); found != nil {
			t.Errorf("%s has %q", name, found)
		}
	}
	for name, allowed := range map[string]int{"app.js": 2, "editor.js": 0} {
		if found := regexp.MustCompile(`\beval\(|new Function\(|innerHTML|dangerouslySetInnerHTML=|document\.write`).FindAll(served[name].text, -1); len(found) > allowed {
			t.Errorf("%s has %q; only Preact itself knows innerHTML", name, found)
		}
	}
}

// TestIssuesAreThoseOfTheModule: none until packaging/publish-as has given it an address.
func TestIssuesAreThoseOfTheModule(t *testing.T) {
	const page = "<head><title>Minibus</title></head>"
	for pkg, want := range map[string]string{
		"minibus/mgmt/ui":                    page,
		"github.com/contoso/minibus/mgmt/ui": `<head><meta name="issues" content="https://github.com/contoso/minibus/issues">` + "\n<title>Minibus</title></head>",
	} {
		if got := string(withIssues([]byte(page), pkg)); got != want {
			t.Errorf("as %s the page is %s", pkg, got)
		}
	}
}

// TestEditorIsLoadedLate: the script that every page loads has only the name of the editor's.
func TestEditorIsLoadedLate(t *testing.T) {
	app := served["app.js"].text
	if !bytes.Contains(app, []byte(`import("./editor.js")`)) || bytes.Contains(app, []byte("cm-content")) || !bytes.Contains(served["editor.js"].text, []byte("cm-content")) {
		t.Error("app.js has the editor, or does not load it")
	}
}

func TestServe(t *testing.T) {
	for name, f := range served {
		w := httptest.NewRecorder()
		Serve(w, httptest.NewRequest(http.MethodGet, Prefix+name, http.NoBody))
		if w.Code != http.StatusOK || !bytes.Equal(w.Body.Bytes(), f.text) || w.Header().Get("Content-Security-Policy") != policy ||
			w.Header().Get("Cache-Control") == "" || w.Header().Get("Etag") == "" || w.Header().Get("Content-Type") != f.kind {
			t.Errorf("%s: %d %v", name, w.Code, w.Header())
		}
	}
}

func TestWanted(t *testing.T) {
	for accept, want := range map[string]bool{
		"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8": true, "text/html": true, "text/html, */*": true,
		"": false, "*/*": false, "application/xml": false, "application/atom+xml": false, "text/html;q=0": false,
		"application/json, text/html;q=0.9": false, "text/html;q=x": true, ";;;": false,
	} {
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		r.Header.Set("Accept", accept)
		if got := Wanted(r); got != want {
			t.Errorf("%q: %v", accept, got)
		}
	}
}
