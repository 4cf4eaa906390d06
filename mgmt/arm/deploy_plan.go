package arm

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"minibus/internal/jsontree"
	"minibus/internal/template"
)

// deploymentRun is what a deployment shares with those inside it.
type deploymentRun struct {
	m           *Manager
	c           *call // of the client
	budget      *template.Budget
	correlation string
	began       time.Time
	peeks       bool // what-if: reference() looks at what is there
	secrets     secrets
	made        map[string]bool // keys of resource groups that the deployment makes
	groups      groupsSeen
	scopes      map[string]ID // where deployments were stored
	checking    bool          // nothing is made yet
	deployments int
	shown       int // bytes of the values of parameters and outputs
	resources   int
	unserved    []*Error // types that Minibus does not have
}

// Bounds of deployments inside each other, and of all their resources.
const (
	maxNested       = 500
	maxNestingDepth = 20
	maxItems        = 5000
	maxShown        = 4 << 20
)

// deploymentScope is the subscription, or the resource group, that resources go to.
type deploymentScope struct{ subscription, group string }

func (p deploymentScope) id() ID {
	if p.group == "" {
		return subscriptionID(p.subscription)
	}
	return groupID(p.subscription, p.group)
}

// deploymentPlan is the plan of one deployment, that of the client or one inside it, and what became of it.
//
// Nothing is made before all of it was prepared: prepare evaluates everything that does not depend on what is made, in
// the deployments inside it too. run then prepares a deployment inside again, when the values of its parameters are
// known, and makes its resources one after another.
type deploymentPlan struct {
	*deploymentRun
	id       ID
	parent   *deploymentPlan
	depth    int
	at       deploymentScope // where its resources go
	sees     deploymentScope // what its functions call the resource group and the subscription
	location string
	tags     map[string]string
	root     *jsontree.Node
	outer    *template.Template // that evaluates it; nil: it evaluates itself
	turns    template.Turns     // of the loops around it
	given    map[string]*jsontree.Node
	values   map[string]*jsontree.Node // of parameters
	tpl      *template.Template
	final    bool // the values of its parameters are known
	running  bool // reference() and list*() ask
	naming   bool // they can't: what is evaluated must be known before

	items   []*plannedResource
	byText  map[string][]*plannedResource // what texts of dependsOn mean, while the items stay as they are
	current *plannedResource              // that is evaluated
	order   []*plannedResource
	began   time.Time

	failure     *Error
	expected    *jsontree.Node // what reference() will give of it, as far as it is known
	outputs     object
	results     *jsontree.Node // outputs with the values of secure ones too
	outputOf    []object       // resources
	operations  []object
	outputsDone time.Time
}

// plannedResource is a resource of a template, in one turn of its loops.
type plannedResource struct {
	node     *jsontree.Node
	symbol   string // of version 2.0 of the language
	loop     string // the name of its loop
	turn     int
	turns    template.Turns
	kind     string // its type as the template has it
	name     string
	id       ID
	unknown  bool // its name is not known yet
	existing bool
	skipped  bool // its condition is false, or that of its parent
	doubtful bool // its condition is not known yet
	version  string
	needs    []*plannedResource
	inner    *deploymentPlan
	state    int // while the order is looked for
	failed   bool
	done     *jsontree.Node // what reference() gives, of a deployment
}

// made reports whether the deployment makes the resource.
func (it *plannedResource) made() bool {
	return !it.existing && !it.skipped && !it.doubtful && !it.unknown
}

func (s *deploymentRun) newPlan(id ID, at deploymentScope, root *jsontree.Node) *deploymentPlan {
	return &deploymentPlan{deploymentRun: s, id: id, at: at, sees: at, root: root, began: time.Now(), outputs: object{}}
}

// later is why a value is unknown that depends on what is made.
const later = "it depends on what the deployment makes"

// placed says where something is.
func placed(at jsontree.Position, path string) string {
	text := fmt.Sprintf("at line '%d' and column '%d'", at.Line, at.Column)
	if path != "" && path != "$" {
		text += ", " + path
	}
	return text
}

// where says where a value is in the client's template.
func (p *deploymentPlan) where(n *jsontree.Node) string {
	top := p
	for top.parent != nil {
		top = top.parent
	}
	at, begin := n.Pos, top.root.Pos
	if at.Line == begin.Line {
		at.Column -= begin.Column - 1
	}
	at.Line -= begin.Line - 1
	return placed(at, "$"+strings.TrimPrefix(n.Path, top.root.Path))
}

// invalid is the error of a template.
func (p *deploymentPlan) invalid(at *jsontree.Node, format string, args ...any) *Error {
	text := strings.TrimSuffix(fmt.Sprintf(format, args...), ".")
	return p.redacted(badRequest("InvalidTemplate", "Deployment template validation failed: 'The template is not "+
		"valid %s: %s.'.", p.where(at), text))
}

// fault returns the error of a value that is unknown for another reason than that it comes later; nil if there is none.
func (p *deploymentPlan) fault(v *jsontree.Node) *Error {
	if n := firstUnknown(v, func(why string) bool { return why != later }); n != nil {
		return p.notEvaluated(n)
	}
	return nil
}

// firstUnknown returns what is unknown in a value for a reason that is wanted; nil if there is nothing.
func firstUnknown(n *jsontree.Node, wanted func(why string) bool) *jsontree.Node {
	if n.Unknown != "" {
		if !wanted(n.Unknown) {
			return nil
		}
		return n
	}
	for _, x := range n.Items {
		if f := firstUnknown(x, wanted); f != nil {
			return f
		}
	}
	for _, m := range n.Members {
		if why := template.UnknownIn(m.Key); why != "" && wanted(why) {
			return &jsontree.Node{Pos: m.Pos, Path: n.Path, Unknown: why}
		}
		if f := firstUnknown(m.Value, wanted); f != nil {
			return f
		}
	}
	return nil
}

// notEvaluated is the error of an expression.
func (p *deploymentPlan) notEvaluated(n *jsontree.Node) *Error {
	if n.Unknown == later {
		return p.invalid(n, "%s depends on what the deployment makes, which is not allowed here: the functions "+
			"reference and list* are for properties and outputs", n.Describe())
	}
	if n.Source == "" {
		return p.invalid(n, "%s", n.Unknown)
	}
	return p.invalid(n, "%s can't be evaluated: %s", n.Describe(), n.Unknown)
}

// known evaluates a value that must not depend on what is made. Inside a deployment that is not running yet it may be
// unknown, for then its parameters may be: ok is false.
func (p *deploymentPlan) known(n *jsontree.Node) (v *jsontree.Node, ok bool, err error) {
	p.naming = true
	v = p.tpl.Evaluate(n)
	p.naming = false
	bad := template.FirstUnknown(v)
	switch {
	case bad == nil:
		return v, true, nil
	case bad.Unknown == later && p.parent != nil && !p.final:
		return v, false, nil
	}
	return v, false, p.notEvaluated(bad)
}

// prepareAll checks and prepares the whole before anything is made.
func (p *deploymentPlan) prepareAll() error {
	if problem := template.Check(p.root, p.host()); problem != nil {
		return p.invalid(problem.At, "%s", problem.Text)
	}
	p.checking = true
	defer func() { p.checking, p.shown = false, 0 }()
	if err := p.prepare(); err != nil {
		return err
	}
	if len(p.unserved) > 0 {
		return p.redacted(&Error{
			Status: http.StatusBadRequest, Code: "InvalidTemplateDeployment", Details: p.unserved,
			Message: fmt.Sprintf("The template deployment '%s' is not valid according to the validation procedure. "+
				"The tracking id is '%s'. See inner errors for details.", p.id.Name(), p.correlation),
		})
	}
	return nil
}

// prepare reads the template and evaluates all that does not depend on what is made.
func (p *deploymentPlan) prepare() error {
	if p.checking {
		p.deployments++
	}
	if p.deployments > maxNested || p.depth > maxNestingDepth {
		return p.invalid(p.root, "it has more than %d deployments, or more than %d inside each other", maxNested,
			maxNestingDepth)
	}
	if err := p.checkRoot(); err != nil {
		return err
	}
	if p.outer == nil {
		for name, v := range p.given {
			p.keepSecretsOf(v, p.root.Get("parameters").Get(name))
		}
		p.naming = true
		values, problem := template.New(p.root, p.given, p.host(), p.budget).Parameters()
		p.naming = false
		if problem != nil {
			return p.invalid(problem.At, "%s", problem.Text)
		}
		for name, v := range values {
			p.keepSecretsOf(v, p.root.Get("parameters").Get(name))
		}
		p.values = values
		p.tpl = template.New(p.root, values, p.host(), p.budget)
		if err := p.checkValues(); err != nil {
			return err
		}
	} else {
		p.values = p.given
		p.tpl = p.outer
	}
	var err error
	p.within(func() { err = p.plan() })
	return err
}

// checkValues fails for parameters that can't be evaluated, and for those and variables that ask what there is: that
// may change while the deployment runs.
func (p *deploymentPlan) checkValues() error {
	early := p.parent != nil && !p.final // what a deployment inside is given may be unknown yet
	for _, v := range p.values {
		if n := firstUnknown(v, func(why string) bool { return why != later || !early }); n != nil {
			return p.notEvaluated(n)
		}
		if err := p.show(v); err != nil {
			return err
		}
	}
	variables := p.root.Get("variables")
	if early || variables == nil {
		return nil
	}
	p.naming = true
	defer func() { p.naming = false }()
	for _, m := range variables.Members {
		at := &jsontree.Node{Kind: jsontree.String, Pos: m.Pos, Path: jsontree.ChildPath(variables.Path, m.Key)}
		at.Text = "[variables('" + m.Key + "')]"
		if v := firstUnknown(p.tpl.Evaluate(at), func(why string) bool { return why == later }); v != nil {
			return p.notEvaluated(v)
		}
	}
	return nil
}

// show fails if the values that answers and documents have become too large together.
func (p *deploymentPlan) show(v *jsontree.Node) *Error {
	text, _ := v.MarshalJSON() // it never fails
	if p.shown += len(text); p.shown > maxShown {
		return p.invalid(v, "the values of parameters and outputs have more than %d MB together", maxShown>>20)
	}
	return nil
}

// definitions answers questions about the types of the template.
func (p *deploymentPlan) definitions() *template.Template {
	return template.New(p.root, nil, nil, p.budget)
}

// within does something in the turns of the loops around the deployment.
func (p *deploymentPlan) within(do func()) { p.tpl.Within(p.turns, do) }

// plan finds the resources, what each needs, and their order.
func (p *deploymentPlan) plan() error {
	p.items = nil
	if err := p.expand(p.root.Get("resources"), nil); err != nil {
		return err
	}
	if err := p.checkTwice(); err != nil {
		return err
	}
	p.byText = make(map[string][]*plannedResource)
	for _, it := range p.items {
		if err := p.resolveDependsOn(it); err != nil {
			return err
		}
	}
	// First so that what a deployment inside gives is known to those that say they need it.
	if err := p.orderByNeeds(); err != nil {
		return err
	}
	for _, it := range p.order {
		if it.existing || it.skipped || it.doubtful {
			continue
		}
		if err := p.preview(it); err != nil {
			return err
		}
	}
	if err := p.previewOutputs(); err != nil {
		return err
	}
	return p.orderByNeeds() // again, with what references have added
}

// checkRoot looks at what a template says of itself.
func (p *deploymentPlan) checkRoot() error {
	schema, version := "", ""
	if n := p.root.Get("$schema"); n != nil {
		schema = strings.ToLower(strings.TrimSuffix(n.Text, "#"))
		schema = schema[strings.LastIndexByte(schema, '/')+1:]
	}
	if n := p.root.Get("languageVersion"); n != nil {
		version = n.Text
	}
	if version != "" && !strings.HasPrefix(version, "1.") && version != "2.0" {
		return p.invalid(p.root.Get("languageVersion"), "Minibus knows the versions 1.x and 2.0 of the language, not "+
			"%q", version)
	}
	if p.root.Get("contentVersion") == nil || p.root.Get("resources") == nil {
		return p.invalid(p.root, "a template has a contentVersion and resources")
	}
	if n := p.root.Get("extensions"); n != nil && len(n.Members) > 0 {
		return p.invalid(n, "Minibus has no extensions of templates")
	}
	if n := p.root.Get("imports"); n != nil && len(n.Members) > 0 {
		return p.invalid(n, "Minibus has no extensions of templates")
	}
	switch {
	case schema == "subscriptiondeploymenttemplate.json" && p.at.group != "":
		return p.invalid(p.root.Get("$schema"), "it is one for a subscription, and the deployment is to a resource "+
			"group: deploy it to the subscription, as az deployment sub create does")
	case schema == "managementgroupdeploymenttemplate.json", schema == "tenantdeploymenttemplate.json":
		return p.invalid(p.root.Get("$schema"), "Minibus deploys to resource groups and subscriptions, not to "+
			"management groups or tenants")
	case schema == "deploymenttemplate.json" && p.at.group == "" && p.parent == nil:
		return p.invalid(p.root.Get("$schema"), "it is one for a resource group, and the deployment is to a "+
			"subscription: deploy it to a resource group, as az deployment group create does")
	}
	return nil
}

// keepSecretsOf notes the texts in a value that are secure by its definition.
func (p *deploymentPlan) keepSecretsOf(v, definition *jsontree.Node) {
	p.definitions().Secrets(v, definition, p.secrets.add)
}
