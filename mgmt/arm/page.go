package arm

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// Pages of lists.
const (
	defaultPage = 100
	maxPage     = 1000
)

// list answers with a page of a list of n items, as $skip and $top ask for, and with the address of the next one. With
// $top there is no next one: the client wants no more.
func list(c *call, n int, item func(i int) any) (answer, error) {
	skip, err := number(c, "$skip", 0, 1<<30)
	if err != nil {
		return answer{}, err
	}
	top, err := number(c, "$top", 1, maxPage)
	if err != nil {
		return answer{}, err
	}
	size, limited := defaultPage, top > 0
	if limited {
		size = top
	}
	items := []any{}
	for i := skip; i < n && i < skip+size; i++ {
		items = append(items, item(i))
	}
	body := object{"value": items}
	if next := skip + len(items); next < n && len(items) > 0 && !limited {
		body["nextLink"] = c.next(next)
	}
	return answer{status: http.StatusOK, body: body}, nil
}

// number reads a number of the query, 0 without one.
func number(c *call, name string, least, most int) (int, error) {
	text := c.query.Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, badRequest("InvalidParameter", "The query parameter '%s' is %.40q. It is a number from %d to %d.",
			name, text, least, most)
	}
	return n, nil
}

// next returns the address of the page that begins at an item. Clients ask for it as it stands.
func (c *call) next(skip int) string {
	query := make(url.Values)
	for name, values := range c.query {
		query[name] = values
	}
	query.Set("$skip", strconv.Itoa(skip))
	var path strings.Builder
	for segment := range strings.SplitSeq(strings.TrimPrefix(c.id.String(), "/"), "/") {
		path.WriteString("/" + url.PathEscape(segment))
	}
	return c.base + path.String() + "?" + query.Encode()
}
