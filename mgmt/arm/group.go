package arm

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

func init() {
	register(kind{
		name: own + "/subscriptions/resourceGroups", list: (*Manager).listGroups, ungated: true,
		methods: map[string]operation{
			http.MethodGet: (*Manager).getGroup, http.MethodHead: (*Manager).headGroup,
			http.MethodPut: (*Manager).putGroup, http.MethodPatch: (*Manager).patchGroup,
			http.MethodDelete: (*Manager).deleteGroup,
		},
	})
}

// group is the document of a resource group.
type group struct {
	ID        string            `json:"id"`
	Location  string            `json:"location"`
	ManagedBy string            `json:"managedBy,omitempty"`
	Tags      map[string]string `json:"tags,omitempty"`
	Made      int64             `json:"made,omitempty"` // ns since the Unix epoch; a later one of its name differs
}

// groupsSeen is when the resource groups were made that somebody has seen, by key.
type groupsSeen map[string]int64

// check notes a resource group. It fails if that is another one than before, under the same name, or has gone.
func (seen groupsSeen) check(m *Manager, id ID) error {
	g, ok := m.group(id)
	made, again := seen[id.key()]
	if !ok || again && made != g.Made {
		return groupNotFound(id.Group)
	}
	seen[id.key()] = g.Made
	return nil
}

// group returns a resource group. The default one is there without a document.
func (m *Manager) group(id ID) (group, bool) {
	g, ok := document[group](m, id)
	if !ok && isDefaultGroup(id) {
		return group{ID: groupID(DefaultSubscription, DefaultGroup).String(), Location: DefaultLocation}, true
	}
	return g, ok
}

func isDefaultGroup(id ID) bool { return id.key() == groupID(DefaultSubscription, DefaultGroup).key() }

func (m *Manager) groupExists(id ID) bool {
	_, ok := m.group(id)
	return ok
}

func (g group) shown() object {
	id := mustParse(g.ID)
	o := object{
		"id": g.ID, "name": id.Group, "type": "Microsoft.Resources/resourceGroups", "location": g.Location,
		"tags": tagsOf(g.Tags), "properties": object{"provisioningState": "Succeeded"},
	}
	if g.ManagedBy != "" {
		o["managedBy"] = g.ManagedBy
	}
	return o
}

// tagsOf returns tags as answers show them: never null.
func tagsOf(tags map[string]string) map[string]string {
	if tags == nil {
		return map[string]string{}
	}
	return tags
}

// groups returns the resource groups of a subscription, by name.
func (m *Manager) groups(subscription string) (all []group) {
	if strings.EqualFold(subscription, DefaultSubscription) {
		g, _ := m.group(groupID(DefaultSubscription, DefaultGroup))
		all = append(all, g)
	}
	for _, key := range m.keys(subscriptionID(subscription)) {
		id := mustParse(key)
		if id.key() != id.groupOf().key() || isDefaultGroup(id) {
			continue
		}
		if g, ok := m.group(id); ok {
			all = append(all, g)
		}
	}
	slices.SortFunc(all, func(a, b group) int { return strings.Compare(strings.ToLower(a.ID), strings.ToLower(b.ID)) })
	return all
}

func (m *Manager) listGroups(c *call) (answer, error) {
	all := m.groups(c.id.Subscription)
	keep, err := filterOf(c)
	if err != nil {
		return answer{}, err
	}
	all = slices.DeleteFunc(all, func(g group) bool { return !keep(g.shown()) })
	return list(c, len(all), func(i int) any { return all[i].shown() })
}

func (m *Manager) getGroup(c *call) (answer, error) {
	g, ok := m.group(c.id)
	if !ok {
		return answer{}, groupNotFound(c.id.Group)
	}
	return answer{status: http.StatusOK, body: g.shown()}, nil
}

func (m *Manager) headGroup(c *call) (answer, error) {
	if !m.groupExists(c.id) {
		return answer{status: http.StatusNotFound}, nil
	}
	return answer{status: http.StatusNoContent}, nil
}

// groupName is what a resource group may be called.
var groupName = regexp.MustCompile(`^[\pL\pN_.()~-]{0,89}[\pL\pN_()~-]$`)

// envelope is what bodies have around the properties of a resource.
type envelope struct {
	Location   string                     `json:"location"`
	ManagedBy  string                     `json:"managedBy"`
	Tags       *map[string]string         `json:"tags"`
	SKU        *sku                       `json:"sku"`
	Identity   json.RawMessage            `json:"identity"`
	Properties map[string]json.RawMessage `json:"properties"`
}

// read reads the body of a call into a value. An empty one is an empty object.
func (c *call) read(value any) error {
	body := c.body
	if len(strings.TrimSpace(string(body))) == 0 {
		body = []byte("{}")
	}
	if err := json.Unmarshal(body, value); err != nil {
		return badRequest("InvalidRequestContent", "The request content was invalid and could not be deserialized: "+
			"'%v'.", err)
	}
	return nil
}

// Limits of tags.
const (
	maxTags     = 50
	maxTagName  = 512
	maxTagValue = 256
)

// checkTags fails for tags that Resource Manager does not take.
func checkTags(tags map[string]string) error {
	if len(tags) > maxTags {
		return badRequest("InvalidTags", "The resource has %d tags. It can have %d.", len(tags), maxTags)
	}
	for name, value := range tags {
		switch {
		case name == "" || len([]rune(name)) > maxTagName || strings.ContainsAny(name, `<>%&\?/`):
			return badRequest("InvalidTagNameCharacters", "The tag name %.60q is empty, has more than %d "+
				`characters, or has one of <>%%&\?/.`, name, maxTagName)
		case len([]rune(value)) > maxTagValue:
			return badRequest("InvalidTagValueLength", "The value of the tag %.60q has more than %d characters.", name,
				maxTagValue)
		}
	}
	return nil
}

func (m *Manager) putGroup(c *call) (answer, error) {
	var body envelope
	if err := c.read(&body); err != nil {
		return answer{}, err
	}
	old, was := m.group(c.id)
	switch {
	case !groupName.MatchString(c.id.Group):
		return answer{}, badRequest("InvalidResourceGroup", "The provided resource group name '%.100s' has these "+
			"invalid characters, or is too long. The name can only be a letter, digit, '-', '.', '(', ')' or '_'.",
			c.id.Group)
	case body.Location == "":
		return answer{}, badRequest("LocationRequired", "The location property is required for this definition.")
	case was && !sameLocation(old.Location, body.Location):
		return answer{}, conflict("InvalidResourceGroupLocation", "Invalid resource group location '%.60s'. The "+
			"Resource group already exists in location '%s'.", body.Location, old.Location)
	}
	g := group{
		ID: c.id.String(), Location: plainLocation(body.Location), ManagedBy: body.ManagedBy,
		Made: time.Now().UnixNano(),
	}
	status := http.StatusCreated
	if was {
		g.ID, g.Made, status = old.ID, old.Made, http.StatusOK
	}
	if body.Tags != nil {
		g.Tags = *body.Tags
	}
	return m.keepGroup(c, g, status)
}

func (m *Manager) keepGroup(c *call, g group, status int) (answer, error) {
	if err := checkTags(g.Tags); err != nil {
		return answer{}, err
	}
	if err := m.keep(c.id, g); err != nil {
		return answer{}, err
	}
	return answer{status: status, body: g.shown()}, nil
}

func (m *Manager) patchGroup(c *call) (answer, error) {
	var body envelope
	if err := c.read(&body); err != nil {
		return answer{}, err
	}
	g, ok := m.group(c.id)
	if !ok {
		return answer{}, groupNotFound(c.id.Group)
	}
	if body.Tags != nil {
		g.Tags = *body.Tags
	}
	return m.keepGroup(c, g, http.StatusOK)
}

// deleteGroup removes a resource group with all that is in it.
func (m *Manager) deleteGroup(c *call) (answer, error) {
	if !m.groupExists(c.id) {
		return answer{}, groupNotFound(c.id.Group)
	}
	if isDefaultGroup(c.id) {
		return answer{}, conflict("ResourceGroupDeletionBlocked", "The resource group '%s' has the default "+
			"namespace and can't be deleted. Delete what is in it.", DefaultGroup)
	}
	for _, s := range m.namespacesIn(c.id) {
		if err := m.removeNamespace(s); err != nil {
			return answer{}, err
		}
	}
	if err := m.forget(m.keys(c.id)...); err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusOK}, nil
}
