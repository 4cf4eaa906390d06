package arm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"minibus/internal/jsontree"
	"minibus/internal/template"
)

const deploymentsType = own + "/deployments"

func init() {
	register(kind{
		name: deploymentsType, nests: true, list: (*Manager).listDeployments,
		methods: map[string]operation{
			http.MethodGet: (*Manager).getDeployment, http.MethodHead: (*Manager).headDeployment,
			http.MethodPut: inTime((*Manager).putDeployment), http.MethodDelete: (*Manager).deleteDeployment,
		},
		actions: map[string]operation{
			"validate": inTime((*Manager).validateDeployment),
			"whatif":   inTime((*Manager).whatIf),
			"cancel":   (*Manager).cancelDeployment, "exporttemplate": (*Manager).exportTemplate,
		},
	})
	register(kind{
		name: deploymentsType + "/operations", list: (*Manager).listDeploymentOperations,
		methods: map[string]operation{http.MethodGet: (*Manager).getDeploymentOperation},
	})
	register(kind{ // the path that clients take in a resource group
		name: own + "/subscriptions/resourceGroups/deployments/operations", list: (*Manager).listDeploymentOperations,
		methods: map[string]operation{http.MethodGet: (*Manager).getDeploymentOperation},
	})
	register(kind{
		name:    deploymentsType + "/operationStatuses",
		methods: map[string]operation{http.MethodGet: (*Manager).deploymentStatus},
	})
}

// deployment is the document of a deployment that has ended.
type deployment struct {
	ID         string            `json:"id"`
	Location   string            `json:"location,omitempty"`
	Tags       map[string]string `json:"tags,omitempty"`
	Ended      int64             `json:"ended"` // ns since the Unix epoch
	Properties object            `json:"properties"`
	Operations []object          `json:"operations"`
}

// templateOf returns the id of the document with the template of a deployment. Those inside another one have none.
func templateOf(deployment ID) ID { return deployment.Child("templates", "default") }

// maxDeployments is how many a resource group or a subscription remembers.
const maxDeployments = 100

// recordSize is about what the record of a deployment has, in bytes, by itself and for each resource.
const recordSize = 2 << 10

func (d *deployment) shown() object {
	id := mustParse(d.ID)
	o := object{"id": d.ID, "name": id.Name(), "type": deploymentsType, "properties": d.Properties}
	if d.Location != "" {
		o["location"] = d.Location
	}
	if len(d.Tags) > 0 {
		o["tags"] = d.Tags
	}
	return o
}

// failed returns the error with which a deployment has ended; nil if it has succeeded.
func (d *deployment) failed() any { return d.Properties["error"] }

func (m *Manager) deployment(id ID) (deployment, error) {
	d, ok := document[deployment](m, id)
	if !ok {
		return d, notFound("DeploymentNotFound", "Deployment '%.100s' could not be found.", id.Name())
	}
	return d, nil
}

func (m *Manager) getDeployment(c *call) (answer, error) {
	d, err := m.deployment(c.id)
	if err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusOK, body: d.shown()}, nil
}

func (m *Manager) headDeployment(c *call) (answer, error) {
	if _, err := m.deployment(c.id); err != nil {
		return answer{status: http.StatusNotFound}, nil
	}
	return answer{status: http.StatusNoContent}, nil
}

// deployments returns those of a resource group or a subscription, the newest first.
func (m *Manager) deploymentsOf(scope ID) (all []deployment) {
	prefix := strings.TrimSuffix(scope.key(), "/") + "/" + providers + "/" + strings.ToLower(deploymentsType) + "/"
	for _, key := range m.keys(scope) {
		if strings.HasPrefix(key, prefix) && !strings.Contains(key[len(prefix):], "/") {
			if d, ok := document[deployment](m, mustParse(key)); ok {
				all = append(all, d)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b deployment) int { return cmp.Compare(b.Ended, a.Ended) })
	return all
}

func (m *Manager) listDeployments(c *call) (answer, error) {
	all := m.deploymentsOf(c.id.Parent())
	if filter := c.query.Get("$filter"); filter != "" {
		state, ok := strings.CutPrefix(filter, "provisioningState eq '")
		if !ok || !strings.HasSuffix(state, "'") {
			return answer{}, badRequest("InvalidFilterInQueryString", "Minibus takes the filter provisioningState eq "+
				"'...' for deployments, not %.100q.", filter)
		}
		all = slices.DeleteFunc(all, func(d deployment) bool {
			has, _ := d.Properties["provisioningState"].(string)
			return !strings.EqualFold(has, strings.TrimSuffix(state, "'"))
		})
	}
	return list(c, len(all), func(i int) any { return all[i].shown() })
}

// deleteDeployment forgets a deployment. What it has made stays.
func (m *Manager) deleteDeployment(c *call) (answer, error) {
	if _, err := m.deployment(c.id); err != nil {
		return answer{status: http.StatusNoContent}, nil
	}
	if err := m.forget(m.keys(c.id)...); err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusNoContent}, nil
}

// cancelDeployment refuses: a deployment has ended when its PUT is answered.
func (m *Manager) cancelDeployment(c *call) (answer, error) {
	d, err := m.deployment(c.id.Parent())
	if err != nil {
		return answer{}, err
	}
	return answer{}, conflict("DeploymentCannotBeCancelled", "The deployment '%.100s' cannot be cancelled: it has "+
		"ended, and its state is '%v'.", c.id.Parent().Name(), d.Properties["provisioningState"])
}

func (m *Manager) exportTemplate(c *call) (answer, error) {
	d, err := m.deployment(c.id.Parent())
	if err != nil {
		return answer{}, err
	}
	text, ok := document[json.RawMessage](m, templateOf(mustParse(d.ID)))
	if !ok {
		return answer{}, badRequest("TemplateNotKept", "Minibus keeps the template of a deployment, not those inside "+
			"it. Export the template of the deployment that has '%.100s' in it.", c.id.Parent().Name())
	}
	return answer{status: http.StatusOK, body: object{"template": text}}, nil
}

// deploymentOf returns the deployment whose operations an id names, with a provider or without.
func (m *Manager) deploymentOf(id ID) (deployment, error) {
	of := id.Parent()
	if of.Provider == "" {
		of = provided(of.groupOf(), own, "deployments", of.Name())
	}
	return m.deployment(of)
}

func (m *Manager) listDeploymentOperations(c *call) (answer, error) {
	d, err := m.deploymentOf(c.id)
	if err != nil {
		return answer{}, err
	}
	return list(c, len(d.Operations), func(i int) any { return d.Operations[i] })
}

func (m *Manager) getDeploymentOperation(c *call) (answer, error) {
	d, err := m.deploymentOf(c.id)
	if err != nil {
		return answer{}, err
	}
	for _, o := range d.Operations {
		if id, _ := o["operationId"].(string); strings.EqualFold(id, c.id.Name()) {
			return answer{status: http.StatusOK, body: o}, nil
		}
	}
	return answer{}, notFound("DeploymentOperationNotFound", "The deployment operation '%.60s' could not be found.",
		c.id.Name())
}

// deploymentStatus answers clients that wait for the end of a deployment. It has ended when they first ask.
func (m *Manager) deploymentStatus(c *call) (answer, error) {
	d, err := m.deployment(c.id.Parent())
	if err != nil {
		return answer{}, err
	}
	body := object{"status": d.Properties["provisioningState"]}
	if e := d.failed(); e != nil {
		body["error"] = e
	}
	return answer{status: http.StatusOK, body: body}, nil
}

// evaluations has an entry for each template that is evaluated: more at a time would take too much memory.
var evaluations = make(chan struct{}, 2)

// inTime returns an operation that evaluates a template: when it is its turn, and until the request ends or it has
// taken too long.
func inTime(o operation) operation {
	return func(m *Manager, c *call) (answer, error) {
		ctx, cancel := context.WithTimeout(c.ctx, maxTime)
		defer cancel()
		select {
		case evaluations <- struct{}{}:
		case <-ctx.Done():
			return answer{}, errorf(http.StatusServiceUnavailable, "ServerBusy", "Other deployments take long. Try "+
				"again later.")
		}
		defer func() { <-evaluations }()
		timed := *c
		timed.ctx = ctx
		return o(m, &timed)
	}
}

// putDeployment deploys. When it answers all is done; a client that waits finds the end at the address in the header.
func (m *Manager) putDeployment(c *call) (answer, error) {
	if _, running := m.deploying.LoadOrStore(c.id.key(), true); running {
		return answer{}, conflict("DeploymentActive", "Unable to edit or replace deployment '%.100s': a deployment of "+
			"this name is running. Please see https://aka.ms/arm-deploy for usage details.", c.id.Name())
	}
	defer m.deploying.Delete(c.id.key())
	old, missing := m.deployment(c.id)
	u, err := m.newDeployment(c, c.id)
	if err != nil {
		return answer{}, err
	}
	if missing == nil && old.Location != "" && !sameLocation(old.Location, u.location) {
		return answer{}, conflict("InvalidDeploymentLocation", "Invalid deployment location '%.60s'. The deployment "+
			"'%.100s' already exists in location '%s'.", u.location, c.id.Name(), old.Location)
	}
	if err := u.prepareAll(); err != nil {
		return answer{}, err
	}
	room := len(c.body) + recordSize
	for _, it := range u.each {
		if it.made() {
			room += recordSize
		}
	}
	if err := m.checkRoom(c.id, room); err != nil { // before anything is made of which there would be no record
		return answer{}, err
	}
	u.run()
	d, err := u.finish()
	if err != nil {
		return answer{}, err
	}
	status, shown := http.StatusCreated, d.shown()
	if missing == nil {
		status = http.StatusOK
	}
	if d.failed() != nil { // as in Azure, where the error is not known yet: clients look for it at the address only
		accepted := object{}
		for key, v := range d.Properties {
			if key != "error" {
				accepted[key] = v
			}
		}
		accepted["provisioningState"] = "Accepted"
		shown["properties"] = accepted
	}
	address := c.base + c.id.Child("operationStatuses", operationID(c.id.key())).String() + "?api-version=" + c.version
	header := make(http.Header)
	header.Set("Azure-AsyncOperation", address)
	return answer{status: status, body: shown, header: header}, nil
}

// validateDeployment says whether a template could be deployed.
func (m *Manager) validateDeployment(c *call) (answer, error) {
	u, err := m.newDeployment(c, c.id.Parent())
	if err != nil {
		return answer{}, err
	}
	if err := u.prepareAll(); err != nil {
		return answer{}, err
	}
	properties := u.described("Succeeded")
	validated := []object{}
	for _, it := range u.each {
		if it.made() {
			validated = append(validated, object{"id": it.id.String()})
		}
	}
	properties["validatedResources"] = validated
	d := deployment{ID: u.id.String(), Location: u.location, Properties: properties}
	return answer{status: http.StatusOK, body: d.shown()}, nil
}

// newDeployment reads the body of a deployment.
func (m *Manager) newDeployment(c *call, id ID) (*deploymentPlan, error) {
	if e := checkDeploymentName(id.Name()); e != nil {
		return nil, e
	}
	if len(c.body) > template.MaxSize {
		return nil, badRequest("InvalidTemplate", "The template is larger than 4 MB.")
	}
	body, err := jsontree.ParseBare(string(c.body), maxValues)
	if err != nil || body.Kind != jsontree.Object {
		text := "it is no object"
		if wrong := new(jsontree.SyntaxError); errors.As(err, &wrong) {
			text = wrong.Text + " " + placed(wrong.Pos, wrong.Path)
		}
		return nil, badRequest("InvalidRequestContent", "The request content was invalid and could not be "+
			"deserialized: %s.", text)
	}
	properties := body.Get("properties")
	if properties == nil {
		return nil, badRequest("InvalidRequestContent", "The request content has no properties with a template.")
	}
	if e := checkDeployment(properties); e != nil {
		return nil, e
	}
	s := &deploymentRun{
		m: m, c: c, budget: &template.Budget{Work: maxWork, Context: c.ctx},
		correlation: uuid.NewString(), began: time.Now(),
		made: make(map[string]bool), scopes: make(map[string]ID), groups: make(groupsSeen),
	}
	s.budget.Made = s.secrets.derive
	if id.Group != "" {
		if err := s.groups.check(m, id.groupOf()); err != nil {
			return nil, err
		}
	}
	root := properties.Get("template")
	u := s.newPlan(id, deploymentScope{id.Subscription, id.Group}, root)
	if list := properties.Get("parameters"); list != nil {
		if u.given, err = givenParameters(list); err != nil {
			return nil, err
		}
	}
	if location := body.Get("location"); location != nil {
		u.location = location.Text
	}
	if id.Group == "" && u.location == "" {
		return nil, badRequest("LocationRequired", "The location property is required for this deployment.")
	}
	if tags := body.Get("tags"); tags != nil {
		u.tags = make(map[string]string)
		for _, tag := range tags.Members {
			u.tags[tag.Key] = template.TextOf(tag.Value)
		}
		if err := checkTags(u.tags); err != nil {
			return nil, err
		}
	}
	return u, nil
}

// Bounds of a deployment. Real ones have some 50,000 values in 1 MB.
const (
	maxValues = 250_000
	maxWork   = 10_000_000
	maxTime   = time.Minute
)

// checkDeployment fails for what Minibus does not do.
func checkDeployment(properties *jsontree.Node) *Error {
	root := properties.Get("template")
	mode := properties.Get("mode")
	switch {
	case properties.Get("templateLink") != nil || properties.Get("parametersLink") != nil:
		return badRequest("UnsupportedTemplateLink", "Minibus deploys the template in the request. It does not load "+
			"linked templates, template specs or files of parameters: leave out templateLink and parametersLink.")
	case mode != nil && !strings.EqualFold(mode.Text, "Incremental"):
		return badRequest("UnsupportedDeploymentMode", "Minibus deploys in the mode Incremental, not in the mode "+
			"%.30q: it deletes nothing.", mode.Text)
	case properties.Get("onErrorDeployment") != nil:
		return badRequest("UnsupportedOnErrorDeployment", "Minibus does not deploy an earlier template after an "+
			"error: leave out onErrorDeployment.")
	case root == nil || root.Kind != jsontree.Object:
		return badRequest("InvalidTemplate", "Deployment template validation failed: 'The template is missing.'.")
	}
	return nil
}

// checkDeploymentName fails for what no deployment can be called.
func checkDeploymentName(name string) *Error {
	wrong := func(r rune) bool {
		return !strings.ContainsRune("-_.()", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}
	if name == "" || len(name) > 64 || strings.ContainsFunc(name, wrong) {
		return badRequest("InvalidDeploymentName", "The provided deployment name '%.100s' is empty, has more than 64 "+
			"characters, or has others than letters, digits and -_.().", name)
	}
	return nil
}

// givenParameters returns the values of a list of parameters, by name in lower case.
func givenParameters(list *jsontree.Node) (map[string]*jsontree.Node, error) {
	given := make(map[string]*jsontree.Node)
	for _, p := range list.Members {
		value := p.Value.Member("value")
		if value == nil {
			return nil, badRequest("InvalidTemplate", "Deployment template validation failed: 'The parameter '%.60s' "+
				"has no value. Minibus reads no secrets of a key vault: give it as a value.'.", p.Key)
		}
		template.Weigh(value)
		template.Unplace(value)
		given[strings.ToLower(p.Key)] = value
	}
	return given, nil
}
