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

// defaultPage is how many entries a page has if the client does not say.
const defaultPage = 100

// page is the part of a list that a client asks for.
type page struct{ skip, top int }

// errFilter is the answer to a list with a filter. Only clients of long ago send one.
var errFilter = badRequest("The query option '$filter' is not supported. List all entities, and choose from them in the client.")

// page reads $skip and $top. The first is checked first.
func (c *call) page() (page, error) {
	if c.option("$filter") != "" {
		return page{}, errFilter
	}
	skip, err := c.paging("skip", 0)
	if err != nil {
		return page{}, err
	}
	top, err := c.paging("top", defaultPage)
	return page{skip: skip, top: top}, err
}

func (c *call) paging(name string, standard int) (int, error) {
	s := c.option("$" + name)
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

// option returns a query option, or "". Its name is matched without case, and what is badly escaped is taken as it stands: net/url leaves that
// out, and the client would get another list than the one it asks for.
func (c *call) option(name string) string {
	for part := range strings.SplitSeq(c.r.URL.RawQuery, "&") {
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

// of cuts the page out of a list.
func of[T any](p page, all []T) []T {
	all = all[min(p.skip, len(all)):]
	return all[:min(p.top, len(all))]
}

// feed answers with a page. There is a next link exactly when the page is full, also if nothing is left: clients rely on it. A page that
// is to have no entries has none, though the service's has: the link would lead to the same page for ever.
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

// listed completes an entry of a list. prefix is the path under which the entities live, without slash at the end; the
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

// escapeName makes a name part of an address; slashes stay, and so does the dollar of $Default.
func escapeName(name string) string {
	return strings.ReplaceAll((&url.URL{Path: "/" + name}).EscapedPath()[1:], "%24", "$")
}
