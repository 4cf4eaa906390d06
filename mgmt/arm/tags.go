package arm

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
)

func init() {
	register(kind{
		name: own + "/tags", nests: true,
		methods: map[string]operation{
			http.MethodGet: (*Manager).getTags, http.MethodPut: (*Manager).putTags,
			http.MethodPatch:  (*Manager).patchTags,
			http.MethodDelete: (*Manager).deleteTags,
		},
	})
}

// tagsBody is a request about the tags of a resource.
type tagsBody struct {
	Operation  string `json:"operation"`
	Properties struct {
		Tags map[string]string `json:"tags"`
	} `json:"properties"`
}

// withTags is a resource of which only the tags matter.
type withTags struct {
	Tags map[string]string `json:"tags"`
}

// tagsAt returns the tags of the resource that has those of an id.
func (m *Manager) tagsAt(c *call) (map[string]string, error) {
	if !strings.EqualFold(c.id.Name(), "default") {
		return nil, badRequest("InvalidTagName", "The tags of a resource have the name 'default', and not '%.60s'.",
			c.id.Name())
	}
	a := m.nested(c, http.MethodGet, nil)
	if e := refusalOf(a); e != nil {
		return nil, e
	}
	text, err := json.Marshal(a.body)
	if err != nil {
		return nil, err
	}
	var r withTags
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, err
	}
	return tagsOf(r.Tags), nil
}

// nested does a call on the resource whose tags an id names.
func (m *Manager) nested(c *call, method string, body []byte) answer {
	parent, err := ParseID(c.id.Scope)
	if err != nil || c.id.Scope == "" {
		e := badRequest("InvalidResourceId", "The tags of this scope can't be read.")
		return answer{status: e.Status, body: object{"error": e}}
	}
	inner := *c
	inner.id, inner.method, inner.body = parent, method, body
	return m.do(&inner)
}

// refusalOf returns the error that an answer is, or nil.
func refusalOf(a answer) *Error {
	if o, ok := a.body.(object); ok {
		if e, ok := o["error"].(*Error); ok {
			return e
		}
	}
	return nil
}

func (m *Manager) answerTags(c *call, tags map[string]string) (answer, error) {
	return answer{status: http.StatusOK, body: object{
		"id": c.id.String(), "name": "default", "type": own + "/tags", "properties": object{"tags": tags},
	}}, nil
}

// keepTags gives the resource other tags.
func (m *Manager) keepTags(c *call, tags map[string]string) (answer, error) {
	body, err := json.Marshal(withTags{tagsOf(tags)})
	if err != nil {
		return answer{}, err
	}
	if e := refusalOf(m.nested(c, http.MethodPatch, body)); e != nil {
		return answer{}, e
	}
	return m.answerTags(c, tagsOf(tags))
}

func (m *Manager) getTags(c *call) (answer, error) {
	tags, err := m.tagsAt(c)
	if err != nil {
		return answer{}, err
	}
	return m.answerTags(c, tags)
}

func (m *Manager) putTags(c *call) (answer, error) {
	var body tagsBody
	if err := c.read(&body); err != nil {
		return answer{}, err
	}
	if _, err := m.tagsAt(c); err != nil {
		return answer{}, err
	}
	return m.keepTags(c, body.Properties.Tags)
}

func (m *Manager) patchTags(c *call) (answer, error) {
	var body tagsBody
	if err := c.read(&body); err != nil {
		return answer{}, err
	}
	tags, err := m.tagsAt(c)
	if err != nil {
		return answer{}, err
	}
	switch strings.ToLower(body.Operation) {
	case "merge":
		maps.Copy(tags, body.Properties.Tags)
	case "replace":
		tags = body.Properties.Tags
	case "delete":
		for name, value := range body.Properties.Tags {
			if tags[name] == value || value == "" {
				delete(tags, name)
			}
		}
	default:
		return answer{}, badRequest("InvalidTagPatchOperation", "The operation '%.40s' does not exist. It is Merge, "+
			"Replace or Delete.", body.Operation)
	}
	return m.keepTags(c, tags)
}

func (m *Manager) deleteTags(c *call) (answer, error) {
	if _, err := m.tagsAt(c); err != nil {
		return answer{}, err
	}
	return m.keepTags(c, nil)
}
