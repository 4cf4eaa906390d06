package mgmt

import "net/http"

// administer answers one request to the ATOM administration API, or with err if that is not nil. The order of the
// checks is the service's: token and rights, values of the body, existence, settings that can't be changed.
func administer(access *handler, x *request, err error) {
	var result *answer
	if err == nil {
		d := atomNamespace{x.ns}
		may := permission{request: x, access: access, namespace: d}
		c := &call{request: x, namespace: d, profile: d.Profile(), may: may}
		result, err = c.handle()
	}
	if err != nil {
		result = problemOf(err).answer(x)
	}
	_ = result.write(x.w)
}

// handle checks the token, then finds and runs the operation.
func (c *call) handle() (*answer, error) {
	method := c.r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	if err := c.may.do(method); err != nil {
		return nil, err
	}
	if o := operations[c.target.kind][method]; o != nil {
		return o(c)
	}
	return nil, badVerb(c.r.Method)
}

// operations has the administration's operations by kind of path and method.
var operations = map[targetKind]map[string]func(*call) (*answer, error){
	targetRoot: {
		http.MethodGet: func(c *call) (*answer, error) { return c.nothing(), nil },
		http.MethodPut: func(*call) (*answer, error) { return nil, badRequest("The name of the entity is empty.") },
	},
	targetNamespace: {http.MethodGet: (*call).getNamespace},
	targetQueues:    {http.MethodGet: (*call).listQueues},
	targetTopics:    {http.MethodGet: (*call).listTopics},
	targetOthers:    {http.MethodGet: (*call).listOthers},
	targetEntity: {
		http.MethodGet: (*call).getEntity, http.MethodPut: (*call).putEntity, http.MethodDelete: (*call).deleteEntity,
	},
	targetSubscriptions: {http.MethodGet: (*call).listSubscriptions},
	targetSubscription: {
		http.MethodGet:    (*call).getSubscription,
		http.MethodPut:    (*call).putSubscription,
		http.MethodDelete: (*call).deleteSubscription,
	},
	targetRules: {
		http.MethodGet: (*call).listRules,
		http.MethodPut: (*call).putRule, // Go's client puts a rule without name here: its name is in the body
	},
	targetRule: {
		http.MethodGet: (*call).getRule, http.MethodPut: (*call).putRule, http.MethodDelete: (*call).deleteRule,
	},
}
