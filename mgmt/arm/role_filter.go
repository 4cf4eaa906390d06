package arm

import (
	"net/http"
	"regexp"
	"strings"
)

// filterTerm matches one condition of a $filter: a function of one or no text, or a property that equals one. A text
// may lack its quotes, as a GUID does in some clients.
var filterTerm = regexp.MustCompile(`(?i)^\s*(?:([a-z]+)\(\s*('(?:[^']|'')*')?\s*\)|` +
	`([a-z]+)\s+eq\s+('(?:[^']|'')*'|[0-9a-f-]+))\s*(?:and\s+|$)`)

// parseFilter reads a $filter whose conditions all have to hold. It returns their texts by their names in lower case.
// Only the names in known may occur.
func parseFilter(filter string, known ...string) (map[string]string, error) {
	conditions := map[string]string{}
	for rest := filter; strings.TrimSpace(rest) != ""; {
		found := filterTerm.FindStringSubmatch(rest)
		if found == nil {
			return nil, unsupportedFilter(filter, known)
		}
		rest = rest[len(found[0]):]
		name := strings.ToLower(found[1] + found[3])
		if !contains(known, name) {
			return nil, unsupportedFilter(filter, known)
		}
		text := found[2] + found[4]
		if len(text) > 1 && text[0] == '\'' {
			text = strings.ReplaceAll(text[1:len(text)-1], "''", "'")
		}
		conditions[name] = text
	}
	return conditions, nil
}

func contains(list []string, name string) bool {
	for _, one := range list {
		if strings.EqualFold(one, name) {
			return true
		}
	}
	return false
}

func unsupportedFilter(filter string, known []string) error {
	return &Error{Status: http.StatusBadRequest, Code: "UnsupportedQuery", Message: "The filter '" + filter +
		"' is not supported. Conditions may use " + strings.Join(known, ", ") + ", joined by 'and'."}
}
