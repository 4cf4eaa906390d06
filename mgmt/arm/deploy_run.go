package arm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"minibus/internal/jsontree"
	"minibus/internal/template"
)

// notInBody are the keys of a resource that tell Resource Manager how to deploy it.
var notInBody = []string{"type", "name", "apiVersion", "condition", "copy", "dependsOn", "scope", "comments",
	"existing", "resources", "asserts", "metadata", "@options"}

// body evaluates what the request for a resource has in its body.
func (p *deploymentPlan) body(it *plannedResource) *jsontree.Node {
	body := &jsontree.Node{Kind: jsontree.Object, Pos: it.node.Pos, Path: it.node.Path}
	p.evaluating(it, func() {
		for _, m := range it.node.Members {
			if !slices.ContainsFunc(notInBody, func(key string) bool { return strings.EqualFold(key, m.Key) }) {
				m.Value = p.tpl.Evaluate(m.Value)
				body.Members = append(body.Members, m)
			}
		}
	})
	return body
}

// evaluating does something in the turns of a resource, which needs what reference() and list*() then name.
func (p *deploymentPlan) evaluating(it *plannedResource, do func()) {
	before := p.current
	p.current = it
	p.tpl.Within(it.turns, do)
	p.current = before
}

// preview evaluates a resource before anything is made: its faults count, and what it refers to comes before it.
func (p *deploymentPlan) preview(it *plannedResource) error {
	if !strings.EqualFold(it.kind, deploymentsType) {
		if err := p.fault(p.body(it)); err != nil {
			return err
		}
		return nil
	}
	inner, err := p.innerOf(it)
	if err != nil {
		return err
	}
	it.inner = inner
	return inner.prepare()
}

// innerOf returns the deployment that a resource is.
func (p *deploymentPlan) innerOf(it *plannedResource) (inner *deploymentPlan, err error) {
	properties := it.node.Get("properties")
	if properties == nil {
		return nil, p.invalid(it.node, "the deployment '%s' has no properties", it.name)
	}
	if e := checkDeployment(properties); e != nil {
		return nil, p.invalid(properties, "%s", e.Message)
	}
	if e := checkDeploymentName(it.name); e != nil && !it.unknown {
		return nil, p.invalid(it.node, "%s", e.Message)
	}
	p.evaluating(it, func() {
		var at deploymentScope
		var known bool
		if at, known, err = p.scopeOf(it.node); err != nil {
			return
		}
		if !known {
			at = p.at
		}
		if scope := it.node.Get("scope"); scope != nil {
			at, known = deploymentScope{it.id.Subscription, it.id.Group}, !it.unknown
			if to, _ := ParseID(it.id.Scope); to.Provider != "" {
				at.subscription = ""
			}
		}
		if at.subscription == "" {
			err = p.invalid(it.node, "Minibus deploys to resource groups and subscriptions, not to "+
				"management groups or tenants")
			return
		}
		inner = p.newPlan(it.id, at, properties.Get("template"))
		inner.parent, inner.depth, inner.final = p, p.depth+1, p.running
		if group := at.id(); known && at.group != "" && !p.m.groupExists(group) && !p.made[group.key()] {
			err = p.invalid(it.node, "the resource group '%s' of the deployment '%s' does not exist, and the template "+
				"does not make it", at.group, it.name)
			return
		}
		inner.location = p.location
		if location := it.node.Get("location"); location != nil {
			inner.location = p.tpl.Evaluate(location).Text
		}
		err = p.giveParameters(it, properties, inner)
	})
	return inner, err
}

// giveParameters gives a deployment inside another one its parameters.
func (p *deploymentPlan) giveParameters(it *plannedResource, properties *jsontree.Node, inner *deploymentPlan) error {
	scope := properties.Get("expressionEvaluationOptions").Get("scope")
	if scope == nil || !strings.EqualFold(scope.Text, "inner") {
		inner.sees, inner.given, inner.turns = p.sees, p.values, it.turns
		evaluates := p
		for evaluates.outer != nil {
			evaluates = evaluates.parent
		}
		inner.outer = template.New(evaluates.root, p.values, inner.host(), p.budget)
		return nil
	}
	inner.given = make(map[string]*jsontree.Node)
	list := properties.Get("parameters")
	if list == nil {
		return nil
	}
	if list.Kind == jsontree.String { // an expression for all of them
		list = p.tpl.Evaluate(list)
		if err := p.fault(list); err != nil {
			return err
		}
	}
	declared := inner.root.Get("parameters")
	for _, m := range list.Members {
		v := p.tpl.Evaluate(m.Value)
		if v.Unknown == "" {
			if v = v.Member("value"); v == nil {
				return p.invalid(m.Value, "the parameter '%s' of the deployment '%s' has no value. Minibus reads no "+
					"secrets of a key vault", m.Key, it.name)
			}
		}
		inner.keepSecretsOf(v, declared.Get(m.Key))
		if err := p.fault(v); err != nil {
			return err
		}
		inner.given[strings.ToLower(m.Key)] = v
	}
	return nil
}

// run makes the resources of a deployment that is prepared. Those that need what has failed are not made.
func (p *deploymentPlan) run() {
	p.running = true
	for _, it := range p.order {
		if slices.ContainsFunc(it.needs, func(other *plannedResource) bool { return other.failed }) {
			it.failed = true
			continue
		}
		if it.existing || it.skipped {
			continue
		}
		began := time.Now()
		var e *Error
		status := http.StatusOK
		if it.inner != nil {
			e = p.runInner(it)
		} else {
			status, e = p.make(it)
		}
		if e != nil {
			it.failed, status = true, e.Status
			p.fail(it, e)
		}
		p.note(it, began, status, e)
	}
	p.outputsDone = time.Now()
	if p.failure == nil {
		if e := p.takeOutputs(); e != nil {
			p.failure = e
		}
	}
}

// fail adds the error of a resource to that of the deployment.
func (p *deploymentPlan) fail(it *plannedResource, e *Error) {
	if p.failure == nil {
		p.failure = &Error{
			Status: http.StatusConflict, Code: "DeploymentFailed", Target: p.id.String(),
			Message: "At least one resource deployment operation failed. Please list deployment operations for " +
				"details. Please see https://aka.ms/arm-deployment-operations for usage details.",
		}
	}
	detail := *p.redacted(e)
	detail.Target = it.id.String()
	p.failure.Details = append(p.failure.Details, &detail)
}

// make does the request for a resource.
func (p *deploymentPlan) make(it *plannedResource) (int, *Error) {
	if once := it.node.Get("@options").Get("onlyIfNotExists"); once != nil && once.Bool {
		if a := p.ask(http.MethodGet, it.id, it.version, nil); a.failure() == nil {
			p.outputOf = append(p.outputOf, object{"id": it.id.String()})
			return a.status, nil
		}
	}
	body := p.body(it)
	if n := template.FirstUnknown(body); n != nil {
		return 0, p.notEvaluated(n)
	}
	a := p.ask(http.MethodPut, it.id, it.version, body)
	if e := a.failure(); e != nil {
		return a.status, e
	}
	p.outputOf = append(p.outputOf, object{"id": it.id.String()})
	return a.status, nil
}

// ask does a request for a template.
func (p *deploymentPlan) ask(method string, id ID, version string, body *jsontree.Node) answer {
	c := &call{
		method: method, id: id, version: version, query: url.Values{"api-version": {version}}, base: p.c.base,
		principal: p.c.principal, ctx: p.c.ctx, groups: p.groups,
	}
	if body != nil {
		c.body, _ = body.MarshalJSON() // it never fails
	}
	return p.m.do(c)
}

// failure returns the error of an answer; nil if it is none.
func (a answer) failure() *Error {
	if a.status < http.StatusBadRequest {
		return nil
	}
	if o, ok := a.body.(object); ok {
		if e, ok := o["error"].(*Error); ok {
			return e
		}
	}
	return &Error{Status: a.status, Code: http.StatusText(a.status), Message: "The request failed."}
}

// runInner runs a deployment inside this one, now that all is known that its parameters depend on.
func (p *deploymentPlan) runInner(it *plannedResource) *Error {
	if it.unknown { // its name was not known
		if err := p.identify(it, nil); err != nil {
			return errorOf(p.id, err)
		}
	}
	inner, err := p.innerOf(it)
	if err != nil {
		return errorOf(it.id, err)
	}
	it.inner = inner
	if inner.at.group != "" && !p.m.groupExists(inner.at.id()) {
		return errorOf(it.id, groupNotFound(inner.at.group))
	}
	before := len(p.unserved)
	if err := inner.prepare(); err != nil {
		inner.failure = errorOf(it.id, err)
	} else if len(p.unserved) > before {
		inner.failure = p.unserved[before]
	} else {
		inner.run()
	}
	d, err := inner.finish()
	if err != nil {
		return errorOf(it.id, err)
	}
	p.outputOf = append(p.outputOf, inner.outputOf...)
	shown := d.shown()
	text, err := json.Marshal(shown)
	if err != nil {
		return errorOf(it.id, err)
	}
	if it.done, err = jsontree.Parse(string(text)); err != nil {
		return errorOf(it.id, err)
	}
	template.Unplace(it.done)
	if inner.results != nil { // with the values of secure outputs
		it.done = it.done.With("properties", it.done.Get("properties").With("outputs", inner.results))
	}
	template.Weigh(it.done)
	return inner.failure
}

// previewOutputs evaluates the outputs before anything is made.
func (p *deploymentPlan) previewOutputs() error {
	all := &jsontree.Node{Kind: jsontree.Object}
	if outputs := p.root.Get("outputs"); outputs != nil {
		definitions := p.definitions()
		for _, m := range outputs.Members {
			v, skip := p.tpl.Output(m.Value)
			if skip {
				continue
			}
			if err := p.fault(v); err != nil {
				return err
			}
			if p.checking {
				if err := p.show(v); err != nil {
					return err
				}
			}
			all.Put(m.Key, output(definitions.TypeOf(m.Value), v))
		}
	}
	p.expected = &jsontree.Node{Kind: jsontree.Object}
	p.expected.Put("outputs", all)
	template.Weigh(p.expected)
	return nil
}

// output returns an output as reference() gives it.
func output(kind string, value *jsontree.Node) *jsontree.Node {
	n := &jsontree.Node{Kind: jsontree.Object}
	n.Put("type", asText(kind))
	n.Put("value", value)
	return n
}

// takeOutputs evaluates the outputs.
func (p *deploymentPlan) takeOutputs() (failure *Error) {
	outputs := p.root.Get("outputs")
	p.results = &jsontree.Node{Kind: jsontree.Object}
	if outputs == nil {
		return nil
	}
	definitions := p.definitions()
	p.within(func() {
		for _, m := range outputs.Members {
			v, skip := p.tpl.Output(m.Value)
			if skip {
				continue
			}
			if n := template.FirstUnknown(v); n != nil {
				failure = &Error{
					Status: http.StatusBadRequest, Code: "DeploymentOutputEvaluationFailed", Target: p.id.String(),
					Message: fmt.Sprintf("Unable to evaluate template outputs: '%s'. Please see error details and "+
						"deployment operations.", m.Key),
					Details: []*Error{p.notEvaluated(n)},
				}
				return
			}
			if failure = p.show(v); failure != nil {
				return
			}
			kind := definitions.TypeOf(m.Value)
			p.results.Put(m.Key, output(kind, v))
			if definitions.Secure(m.Value) {
				p.keepSecretsOf(v, m.Value)
				p.outputs[m.Key] = object{"type": kind}
			} else {
				p.outputs[m.Key] = object{"type": kind, "value": v}
			}
		}
	})
	return failure
}
