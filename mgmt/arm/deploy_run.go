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
func (u *deploymentPlan) body(it *plannedResource) *jsontree.Node {
	body := &jsontree.Node{Kind: jsontree.Object, Pos: it.node.Pos, Path: it.node.Path}
	u.evaluating(it, func() {
		for _, m := range it.node.Members {
			if !slices.ContainsFunc(notInBody, func(key string) bool { return strings.EqualFold(key, m.Key) }) {
				m.Value = u.tpl.Evaluate(m.Value)
				body.Members = append(body.Members, m)
			}
		}
	})
	return body
}

// evaluating does something in the turns of a resource, which needs what reference() and list*() then name.
func (u *deploymentPlan) evaluating(it *plannedResource, do func()) {
	before := u.current
	u.current = it
	u.tpl.Within(it.turns, do)
	u.current = before
}

// preview evaluates a resource before anything is made: its faults count, and what it refers to comes before it.
func (u *deploymentPlan) preview(it *plannedResource) error {
	if !strings.EqualFold(it.kind, deploymentsType) {
		if err := u.fault(u.body(it)); err != nil {
			return err
		}
		return nil
	}
	inner, err := u.innerOf(it)
	if err != nil {
		return err
	}
	it.inner = inner
	return inner.prepare()
}

// innerOf returns the deployment that a resource is.
func (u *deploymentPlan) innerOf(it *plannedResource) (inner *deploymentPlan, err error) {
	properties := it.node.Get("properties")
	if properties == nil {
		return nil, u.invalid(it.node, "the deployment '%s' has no properties", it.name)
	}
	if e := checkDeployment(properties); e != nil {
		return nil, u.invalid(properties, "%s", e.Message)
	}
	if e := checkDeploymentName(it.name); e != nil && !it.unknown {
		return nil, u.invalid(it.node, "%s", e.Message)
	}
	u.evaluating(it, func() {
		var at deploymentScope
		var known bool
		if at, known, err = u.scopeOf(it.node); err != nil {
			return
		}
		if !known {
			at = u.at
		}
		if scope := it.node.Get("scope"); scope != nil {
			at, known = deploymentScope{it.id.Subscription, it.id.Group}, !it.unknown
			if to, _ := ParseID(it.id.Scope); to.Provider != "" {
				at.subscription = ""
			}
		}
		if at.subscription == "" {
			err = u.invalid(it.node, "Minibus deploys to resource groups and subscriptions, not to "+
				"management groups or tenants")
			return
		}
		inner = u.newPlan(it.id, at, properties.Get("template"))
		inner.parent, inner.depth, inner.final = u, u.depth+1, u.running
		if group := at.id(); known && at.group != "" && !u.m.groupExists(group) && !u.made[group.key()] {
			err = u.invalid(it.node, "the resource group '%s' of the deployment '%s' does not exist, and the template "+
				"does not make it", at.group, it.name)
			return
		}
		inner.location = u.location
		if location := it.node.Get("location"); location != nil {
			inner.location = u.tpl.Evaluate(location).Text
		}
		err = u.giveParameters(it, properties, inner)
	})
	return inner, err
}

// giveParameters gives a deployment inside another one its parameters.
func (u *deploymentPlan) giveParameters(it *plannedResource, properties *jsontree.Node, inner *deploymentPlan) error {
	scope := properties.Get("expressionEvaluationOptions").Get("scope")
	if scope == nil || !strings.EqualFold(scope.Text, "inner") {
		inner.sees, inner.given, inner.turns = u.sees, u.values, it.turns
		evaluates := u
		for evaluates.outer != nil {
			evaluates = evaluates.parent
		}
		inner.outer = template.New(evaluates.root, u.values, inner.host(), u.budget)
		return nil
	}
	inner.given = make(map[string]*jsontree.Node)
	list := properties.Get("parameters")
	if list == nil {
		return nil
	}
	if list.Kind == jsontree.String { // an expression for all of them
		list = u.tpl.Evaluate(list)
		if err := u.fault(list); err != nil {
			return err
		}
	}
	declared := inner.root.Get("parameters")
	for _, p := range list.Members {
		v := u.tpl.Evaluate(p.Value)
		if v.Unknown == "" {
			if v = v.Member("value"); v == nil {
				return u.invalid(p.Value, "the parameter '%s' of the deployment '%s' has no value. Minibus reads no "+
					"secrets of a key vault", p.Key, it.name)
			}
		}
		inner.keepSecretsOf(v, declared.Get(p.Key))
		if err := u.fault(v); err != nil {
			return err
		}
		inner.given[strings.ToLower(p.Key)] = v
	}
	return nil
}

// run makes the resources of a deployment that is prepared. Those that need what has failed are not made.
func (u *deploymentPlan) run() {
	u.running = true
	for _, it := range u.order {
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
			e = u.runInner(it)
		} else {
			status, e = u.make(it)
		}
		if e != nil {
			it.failed, status = true, e.Status
			u.fail(it, e)
		}
		u.note(it, began, status, e)
	}
	u.outputsDone = time.Now()
	if u.failure == nil {
		if e := u.takeOutputs(); e != nil {
			u.failure = e
		}
	}
}

// fail adds the error of a resource to that of the deployment.
func (u *deploymentPlan) fail(it *plannedResource, e *Error) {
	if u.failure == nil {
		u.failure = &Error{
			Status: http.StatusConflict, Code: "DeploymentFailed", Target: u.id.String(),
			Message: "At least one resource deployment operation failed. Please list deployment operations for " +
				"details. Please see https://aka.ms/arm-deployment-operations for usage details.",
		}
	}
	detail := *u.redacted(e)
	detail.Target = it.id.String()
	u.failure.Details = append(u.failure.Details, &detail)
}

// make does the request for a resource.
func (u *deploymentPlan) make(it *plannedResource) (int, *Error) {
	if once := it.node.Get("@options").Get("onlyIfNotExists"); once != nil && once.Bool {
		if a := u.ask(http.MethodGet, it.id, it.version, nil); a.failure() == nil {
			u.outputOf = append(u.outputOf, object{"id": it.id.String()})
			return a.status, nil
		}
	}
	body := u.body(it)
	if n := template.FirstUnknown(body); n != nil {
		return 0, u.notEvaluated(n)
	}
	a := u.ask(http.MethodPut, it.id, it.version, body)
	if e := a.failure(); e != nil {
		return a.status, e
	}
	u.outputOf = append(u.outputOf, object{"id": it.id.String()})
	return a.status, nil
}

// ask does a request for a template.
func (u *deploymentPlan) ask(method string, id ID, version string, body *jsontree.Node) answer {
	c := &call{
		method: method, id: id, version: version, query: url.Values{"api-version": {version}}, base: u.c.base,
		principal: u.c.principal, ctx: u.c.ctx, groups: u.groups,
	}
	if body != nil {
		c.body, _ = body.MarshalJSON() // it never fails
	}
	return u.m.do(c)
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
func (u *deploymentPlan) runInner(it *plannedResource) *Error {
	if it.unknown { // its name was not known
		if err := u.identify(it, nil); err != nil {
			return errorOf(u.id, err)
		}
	}
	inner, err := u.innerOf(it)
	if err != nil {
		return errorOf(it.id, err)
	}
	it.inner = inner
	if inner.at.group != "" && !u.m.groupExists(inner.at.id()) {
		return errorOf(it.id, groupNotFound(inner.at.group))
	}
	before := len(u.unserved)
	if err := inner.prepare(); err != nil {
		inner.failure = errorOf(it.id, err)
	} else if len(u.unserved) > before {
		inner.failure = u.unserved[before]
	} else {
		inner.run()
	}
	d, err := inner.finish()
	if err != nil {
		return errorOf(it.id, err)
	}
	u.outputOf = append(u.outputOf, inner.outputOf...)
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
func (u *deploymentPlan) previewOutputs() error {
	all := &jsontree.Node{Kind: jsontree.Object}
	if outputs := u.root.Get("outputs"); outputs != nil {
		definitions := u.definitions()
		for _, m := range outputs.Members {
			v, skip := u.tpl.Output(m.Value)
			if skip {
				continue
			}
			if err := u.fault(v); err != nil {
				return err
			}
			if u.checking {
				if err := u.show(v); err != nil {
					return err
				}
			}
			all.Put(m.Key, output(definitions.TypeOf(m.Value), v))
		}
	}
	u.expected = &jsontree.Node{Kind: jsontree.Object}
	u.expected.Put("outputs", all)
	template.Weigh(u.expected)
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
func (u *deploymentPlan) takeOutputs() (failure *Error) {
	outputs := u.root.Get("outputs")
	u.results = &jsontree.Node{Kind: jsontree.Object}
	if outputs == nil {
		return nil
	}
	definitions := u.definitions()
	u.within(func() {
		for _, m := range outputs.Members {
			v, skip := u.tpl.Output(m.Value)
			if skip {
				continue
			}
			if n := template.FirstUnknown(v); n != nil {
				failure = &Error{
					Status: http.StatusBadRequest, Code: "DeploymentOutputEvaluationFailed", Target: u.id.String(),
					Message: fmt.Sprintf("Unable to evaluate template outputs: '%s'. Please see error details and "+
						"deployment operations.", m.Key),
					Details: []*Error{u.notEvaluated(n)},
				}
				return
			}
			if failure = u.show(v); failure != nil {
				return
			}
			kind := definitions.TypeOf(m.Value)
			u.results.Put(m.Key, output(kind, v))
			if definitions.Secure(m.Value) {
				u.keepSecretsOf(v, m.Value)
				u.outputs[m.Key] = object{"type": kind}
			} else {
				u.outputs[m.Key] = object{"type": kind, "value": v}
			}
		}
	})
	return failure
}
