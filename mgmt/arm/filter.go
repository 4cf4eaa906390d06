package arm

import (
	"regexp"
	"strings"
)

// token is a word, a text in quotes, in which a quote is doubled, or a sign.
var token = regexp.MustCompile(`'(?:[^']|'')*'|[A-Za-z][\w./]*|[(),]`)

// filterOf reads $filter, and returns what says whether the list has a resource. Without one the list has all. What
// clients ask for is comparisons joined by and, or by or.
func filterOf(c *call) (func(object) bool, error) {
	text := strings.TrimSpace(c.query.Get("$filter"))
	if text == "" {
		return func(object) bool { return true }, nil
	}
	wrong := badRequest("InvalidFilterInQueryString", "Invalid $filter %.200q. It compares resourceType, "+
		"resourceGroup, name, location, tagName or tagValue, as in resourceType eq 'Microsoft.ServiceBus/namespaces'.",
		text)
	if strings.TrimSpace(token.ReplaceAllString(text, "")) != "" {
		return nil, wrong
	}
	var terms []func(object) bool
	or := false
	for words := token.FindAllString(text, -1); len(words) > 0; {
		if n := len(terms); n > 0 {
			join := strings.ToLower(words[0])
			if join != "and" && join != "or" || n > 1 && or != (join == "or") {
				return nil, wrong
			}
			or, words = join == "or", words[1:]
		}
		term, length := termOf(words)
		if term == nil {
			return nil, wrong
		}
		terms, words = append(terms, term), words[length:]
	}
	return func(o object) bool {
		for _, term := range terms {
			if term(o) == or {
				return or
			}
		}
		return !or
	}, nil
}

// termOf reads a comparison at the beginning of words; nil: there is none.
func termOf(words []string) (term func(object) bool, length int) {
	switch {
	case len(words) >= 6 && strings.EqualFold(words[0], "substringof") && words[1] == "(" && isText(words[2]) &&
		words[3] == "," && words[5] == ")":
		part := strings.ToLower(textOf(words[2]))
		return func(o object) bool {
			for _, value := range valuesOf(o, words[4]) {
				if strings.Contains(strings.ToLower(value), part) {
					return true
				}
			}
			return false
		}, 6
	case len(words) >= 3 && isText(words[2]) &&
		(strings.EqualFold(words[1], "eq") || strings.EqualFold(words[1], "ne")):
		wanted, equal := textOf(words[2]), strings.EqualFold(words[1], "eq")
		return func(o object) bool {
			for _, value := range valuesOf(o, words[0]) {
				if strings.EqualFold(value, wanted) {
					return equal
				}
			}
			return !equal
		}, 3
	}
	return nil, 0
}

func isText(word string) bool { return strings.HasPrefix(word, "'") }

func textOf(word string) string { return strings.ReplaceAll(word[1:len(word)-1], "''", "'") }

// valuesOf returns what a resource has under a name of a filter.
func valuesOf(o object, name string) (values []string) {
	text := func(key string) string { s, _ := o[key].(string); return s }
	switch strings.ToLower(name) {
	case "resourcetype":
		return []string{text("type")}
	case "name", "location":
		return []string{text(strings.ToLower(name))}
	case "resourcegroup":
		id, _ := ParseID(text("id"))
		return []string{id.Group}
	case "tagname", "tagvalue":
		tags, _ := o["tags"].(map[string]string)
		for key, value := range tags {
			if strings.EqualFold(name, "tagname") {
				value = key
			}
			values = append(values, value)
		}
	}
	return values
}
