package control

import (
	_ "embed"
	"reflect"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"minibus/mgmt/control/api"
)

// descriptionsText describes the operations, by id: a line as summary, and a paragraph. It also describes the
// properties, by schema and name, whose text does not fit in the tag of a field.
//
//go:embed descriptions.txt
var descriptionsText string

// descriptions has the paragraphs of descriptions.txt by the heading above them.
var descriptions = sync.OnceValue(func() map[string][]string {
	all := make(map[string][]string)
	for block := range strings.SplitSeq("\n"+descriptionsText, "\n# ") {
		heading, text, _ := strings.Cut(block, "\n")
		for paragraph := range strings.SplitSeq(text, "\n\n") {
			if words := strings.Fields(paragraph); len(words) > 0 {
				all[heading] = append(all[heading], strings.Join(words, " "))
			}
		}
	}
	return all
})

// property returns the schema of a property.
func (h *handler) property(schema, name string) *huma.Schema {
	return h.OpenAPI().Components.Schemas.Map()[schema].Properties[name]
}

// enumerate adds to the schemas the enumerations that do not fit in a tag. It comes before the operations are
// registered, which check their arguments by them.
func (h *handler) enumerate() {
	for _, v := range []any{api.FaultOrder{}, api.Fault{}, api.Finding{}, api.Link{}} {
		h.OpenAPI().Components.Schemas.Schema(reflect.TypeOf(v), true, "")
	}
	set := func(s *huma.Schema, values string) {
		for value := range strings.FieldsSeq(values) {
			s.Enum = append(s.Enum, value)
		}
		s.PrecomputeMessages()
	}
	for _, schema := range []string{"FaultOrder", "Fault"} {
		set(h.property(schema, "kind"),
			"throttle refuse detach drop close loseLock loseSession delay starve failJournal expireToken")
		set(h.property(schema, "operations").Items,
			"attachSender attachReceiver send receive settle renew manage authenticate now")
	}
	set(h.property("Finding", "code"), `topic no-subscriptions disabled send-disabled forwards forward-waits parked
		no-rules rules-match-nothing rules-leave-out empty locked sessions-held session-required other-session
		scheduled deferred being-written no-receiver no-credit selectors wrong-sub-queue dead-lettered expired
		refused beyond-azure receiving`)
	set(h.property("Link", "waitsFor"), "message credit session window settlement reading journal detach fault")
}
