package mgmt

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"minibus/mgmt/atom"
)

// defaultPage is the number of entries of a page without $top.
const defaultPage = 100

// page is the part of a list that a client asks for.
type page struct{ skip, top int }

// errFilter answers a list request with a filter. Only old clients send one.
var errFilter = badRequest("The query option '$filter' is not supported. List all entities, and choose from them in " +
	"the client.")

// page reads $skip and $top, in the service's order of checks.
func (x *request) page() (page, error) {
	if x.option("$filter") != "" {
		return page{}, errFilter
	}
	skip, err := x.paging("skip", 0)
	if err != nil {
		return page{}, err
	}
	top, err := x.paging("top", defaultPage)
	return page{skip: skip, top: top}, err
}

func (x *request) paging(name string, standard int) (int, error) {
	s := x.option("$" + name)
	if s == "" {
		return standard, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > math.MaxInt32 {
		return 0, problemf(http.StatusBadRequest,
			"Parameter '%s' should be non-negative integer.\r\nParameter name: %s. ", name, name)
	}
	return n, nil
}

// option returns a query option, or "". The name is matched without case. Bad escapes are taken as they are: net/url
// drops such options, and the client would get another list than the one it asked for.
func (x *request) option(name string) string {
	for part := range strings.SplitSeq(x.r.URL.RawQuery, "&") {
		key, value, _ := strings.Cut(part, "=")
		if strings.EqualFold(unescaped(key), name) {
			return unescaped(value)
		}
	}
	return ""
}

func unescaped(s string) string {
	if text, err := url.QueryUnescape(s); err == nil {
		return text
	}
	return s
}

// pageOf returns the page's part of a list.
func pageOf[T any](p page, all []T) []T {
	all = all[min(p.skip, len(all)):]
	return all[:min(p.top, len(all))]
}

// feed answers with a page. It has a next link exactly when the page is full, even if nothing is left: clients rely
// on it. A page of $top=0 has no link, unlike the service's, which leads to the same page for ever.
func (c *call) feed(title string, p page, entries []atom.Entry) *answer {
	f := atom.Feed{Title: title, ID: c.address(), Updated: c.now, Entries: entries}
	if p.top > 0 && len(entries) == p.top {
		f.Next = fmt.Sprintf("%s%s?%%24skip=%d&%%24top=%d", c.base(), c.r.URL.EscapedPath(), p.skip+len(entries), p.top)
		if v := c.version(); v != "" {
			f.Next += "&api-version=" + url.QueryEscape(v)
		}
	}
	return &answer{status: http.StatusOK, contentType: atom.TypeFeed, body: f.Encode(c.view(true))}
}

// listed completes an entry of a list. prefix is the path above the list's entities, without a trailing slash; the
// relative address begins with up.
func (c *call) listed(e atom.Entry, prefix, up string) atom.Entry {
	name := escapeName(e.Title)
	if v := c.version(); v != "" {
		name += "?api-version=" + url.QueryEscape(v)
	}
	e.ID = c.base() + prefix + "/" + name
	e.Self = up + name
	if strings.HasSuffix(c.r.URL.EscapedPath(), "/") {
		e.Self = name
	}
	return e
}

// escapeName escapes a name for an address; slashes stay, and so does the dollar of $Default.
func escapeName(name string) string {
	return strings.ReplaceAll((&url.URL{Path: "/" + name}).EscapedPath()[1:], "%24", "$")
}
