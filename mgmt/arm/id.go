package arm

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ID is the id of a resource, or the path of a list or of an action, which has one more type than names. What
// Resource Manager has itself, such as a resource group, has no provider.
type ID struct {
	// Scope is the id of what an extension resource belongs to, or of the resource group, the subscription or nothing
	// that holds another resource: all that comes before the last provider.
	Scope        string
	Subscription string
	Group        string
	Provider     string
	Types, Names []string
}

// The words of paths, in the case in which ids show them.
const (
	subscriptions  = "subscriptions"
	resourceGroups = "resourceGroups"
	providers      = "providers"
)

// Bounds of an id: of a part, in bytes, and of the number of parts. The name of an entity has 260 characters at most,
// and the id of a rule 16 parts.
const (
	maxSegment  = 1024
	maxSegments = 64
)

// ParseID reads the id of a resource, in letters of any case, as JSON has it.
func ParseID(text string) (ID, error) { return parseID(strings.Split(text, "/")) }

// parsePath reads an encoded path. A slash that is encoded belongs to a name, and is shown as Resource Manager shows
// slashes in names of entities: as a tilde.
func parsePath(escaped string) (ID, error) {
	segments := strings.Split(escaped, "/")
	for i, s := range segments {
		plain, err := url.PathUnescape(s)
		if err != nil {
			return ID{}, badRequest("InvalidRequestUri", "The path of the request can't be read: %v.", err)
		}
		segments[i] = strings.ReplaceAll(plain, "/", "~")
	}
	return parseID(segments)
}

// parseID reads the segments of a path. Empty ones don't count: clients double the slash behind the host.
func parseID(all []string) (ID, error) {
	var s []string
	for _, segment := range all {
		switch {
		case segment == "":
			continue
		case segment == "." || segment == ".." || !utf8.ValidString(segment),
			max(len(segment), len(strings.ToLower(segment))) > maxSegment, // letters may grow in a key
			strings.ContainsFunc(segment, unicode.IsControl), strings.ContainsAny(segment, `\?#`):
			return ID{}, badRequest("InvalidRequestUri", "The part %.60q of the path can't be part of an id.", segment)
		}
		if s = append(s, segment); len(s) > maxSegments {
			return ID{}, badRequest("InvalidRequestUri", "The path has more than %d parts.", maxSegments)
		}
	}
	var id ID
	for len(s) > 0 {
		if strings.EqualFold(s[0], providers) && len(s) > 1 {
			id.Scope, id.Provider, id.Types, id.Names = id.canonical().String(), s[1], nil, nil
			s = s[2:]
			continue
		}
		id.Types = append(id.Types, s[0])
		if len(s) == 1 {
			break
		}
		id.Names = append(id.Names, s[1])
		if id.Provider == "" {
			id.note(s[0], s[1])
		}
		s = s[2:]
	}
	if id.Scope == "/" {
		id.Scope = ""
	}
	return id.canonical(), nil
}

// note keeps the names of what all ids begin with.
func (id *ID) note(kind, name string) {
	switch {
	case len(id.Types) == 1 && strings.EqualFold(kind, subscriptions):
		id.Subscription = name
	case len(id.Types) == 2 && id.Subscription != "" && strings.EqualFold(kind, resourceGroups):
		id.Group = name
	}
}

// canonical gives the types the letters of the registry.
func (id ID) canonical() ID {
	if id.Provider != "" && len(id.Types) == 0 {
		return id
	}
	for n := range id.Types {
		known, ok := kinds[strings.ToLower(id.typeOf(n+1))]
		if !ok {
			continue
		}
		words := strings.Split(known.name, "/")
		if id.Provider != "" {
			id.Provider = words[0]
		}
		id.Types[n] = words[len(words)-1]
	}
	return id
}

// own is the provider of what ids name without one, in the registry.
const own = "Microsoft.Resources"

// typeOf returns the type that the first n words name.
func (id ID) typeOf(n int) string {
	provider := id.Provider
	if provider == "" {
		provider = own
	}
	return provider + "/" + strings.Join(id.Types[:n], "/")
}

// Type returns the type, such as Microsoft.ServiceBus/namespaces/queues.
func (id ID) Type() string { return id.typeOf(len(id.Types)) }

// Name returns the last name, "" of a list of the first level.
func (id ID) Name() string {
	if len(id.Names) == 0 {
		return ""
	}
	return id.Names[len(id.Names)-1]
}

// isList reports whether the id is the path of a list or of an action.
func (id ID) isList() bool { return len(id.Types) != len(id.Names) }

// String returns the id with types in the case in which Resource Manager shows them, and names as they came.
func (id ID) String() string {
	var b strings.Builder
	if id.Provider != "" {
		b.WriteString(id.Scope + "/" + providers + "/" + id.Provider)
	}
	for i, kind := range id.Types {
		b.WriteString("/" + kind)
		if i < len(id.Names) {
			b.WriteString("/" + id.Names[i])
		}
	}
	if b.Len() == 0 {
		return "/"
	}
	return b.String()
}

// key returns what all spellings of the id have in common.
func (id ID) key() string { return strings.ToLower(id.String()) }

// Parent returns what holds the resource, or for a list or an action the resource that has it.
func (id ID) Parent() ID {
	n := len(id.Names)
	if !id.isList() {
		n--
	}
	if n <= 0 && id.Provider != "" {
		parent, _ := ParseID(id.Scope) // it was an id
		return parent
	}
	id.Types, id.Names = id.Types[:max(n, 0):max(n, 0)], id.Names[:max(n, 0):max(n, 0)]
	if id.Provider == "" && len(id.Types) < 2 {
		id.Group = ""
	}
	if id.Provider == "" && len(id.Types) < 1 {
		id.Subscription = ""
	}
	return id
}

// Child returns what a resource has by a type and a name; without a name, the list of that type.
func (id ID) Child(kind, name string) ID {
	n := len(id.Names)
	id.Types, id.Names = append(id.Types[:n:n], kind), id.Names[:n:n]
	if name != "" {
		id.Names = append(id.Names, name)
	}
	return id
}

// groupOf returns the id of the resource group, and subscriptionOf that of the subscription, in which the resource is.
func (id ID) groupOf() ID { return groupID(id.Subscription, id.Group) }

func subscriptionID(subscription string) ID {
	return ID{Subscription: subscription, Types: []string{subscriptions}, Names: []string{subscription}}
}

func groupID(subscription, group string) ID {
	id := subscriptionID(subscription).Child(resourceGroups, group)
	id.Group = group
	return id
}

// provided returns the id of a resource that a scope has from a provider.
func provided(scope ID, provider string, typesAndNames ...string) ID {
	id := ID{Scope: scope.String(), Subscription: scope.Subscription, Group: scope.Group, Provider: provider}
	for i, s := range typesAndNames {
		if i%2 == 0 {
			id.Types = append(id.Types, s)
		} else {
			id.Names = append(id.Names, s)
		}
	}
	return id
}

// within reports whether a key is that of a resource or of something in it.
func within(key, above string) bool { return key == above || strings.HasPrefix(key, above+"/") }

// mustParse reads an id that this package made.
func mustParse(text string) ID {
	id, err := ParseID(text)
	if err != nil {
		panic(fmt.Sprintf("parse the id %q: %v", text, err))
	}
	return id
}
