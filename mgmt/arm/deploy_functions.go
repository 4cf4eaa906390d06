package arm

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"minibus/internal/jsontree"
	"minibus/internal/template"
)

// host returns the functions that depend on the deployment.
func (p *deploymentPlan) host() template.Host {
	type function = func(*template.Template, string, []*jsontree.Node) *jsontree.Node
	plain := func(f func() *jsontree.Node) function {
		return func(_ *template.Template, _ string, args []*jsontree.Node) *jsontree.Node {
			if len(args) > 0 {
				return nil
			}
			return f()
		}
	}
	return template.Host{
		"resourcegroup": plain(p.resourceGroup),
		"subscription": plain(func() *jsontree.Node {
			return asNode(object{
				"id": subscriptionID(p.sees.subscription).String(), "subscriptionId": p.sees.subscription,
				"tenantId": Tenant, "displayName": "Minibus", "authorizationSource": "RoleBased",
			})
		}),
		"tenant": plain(func() *jsontree.Node {
			return asNode(object{
				"id": "/tenants/" + Tenant, "tenantId": Tenant, "displayName": "Minibus", "countryCode": "US",
				"tenantCategory": "Home",
			})
		}),
		"deployment":  plain(p.deploymentFunction),
		"environment": plain(environment),
		"deployer": plain(func() *jsontree.Node {
			return asNode(object{"objectId": p.c.principal, "tenantId": Tenant, "userPrincipalName": ""})
		}),
		"newguid": func(t *template.Template, name string, args []*jsontree.Node) *jsontree.Node {
			if !t.InDefault() {
				return template.Unknown("the function newGuid is for default values of parameters only")
			}
			return asText(uuid.NewString())
		},
		"utcnow": func(t *template.Template, name string, args []*jsontree.Node) *jsontree.Node {
			format := ""
			switch {
			case !t.InDefault():
				return template.Unknown("the function utcNow is for default values of parameters only")
			case len(args) > 1:
				return nil
			case len(args) == 1:
				format = args[0].Text
			}
			text, ok := template.FormatTime(p.deploymentRun.began.UTC(), format)
			if !ok {
				return nil
			}
			return asText(text)
		},
		"resourceid": func(_ *template.Template, _ string, args []*jsontree.Node) *jsontree.Node {
			return p.idOf(args, true, true)
		},
		"subscriptionresourceid": func(_ *template.Template, _ string, args []*jsontree.Node) *jsontree.Node {
			return p.idOf(args, true, false)
		},
		"tenantresourceid": func(_ *template.Template, _ string, args []*jsontree.Node) *jsontree.Node {
			return p.idOf(args, false, false)
		},
		"extensionresourceid": func(_ *template.Template, _ string, args []*jsontree.Node) *jsontree.Node {
			if len(args) < 2 {
				return nil
			}
			return idIn(strings.TrimSuffix(args[0].Text, "/"), args[1:])
		},
		"reference":  p.reference,
		"references": p.references,
		"list":       p.list,
	}
}

func asText(text string) *jsontree.Node { return &jsontree.Node{Kind: jsontree.String, Text: text} }

// asNode returns what would be read from the JSON of a value. It is for values that this package has made.
func asNode(value any) *jsontree.Node {
	text, err := json.Marshal(value)
	if err != nil {
		return template.Unknown("it can't be written as JSON")
	}
	n, err := jsontree.Parse(string(text))
	if err != nil {
		return template.Unknown("it can't be read as JSON")
	}
	template.Unplace(n)
	template.Weigh(n)
	return n
}

// resourceGroup is resourceGroup(). Of a group that is made by this deployment, only the name is known before.
func (p *deploymentPlan) resourceGroup() *jsontree.Node {
	if p.sees.group == "" {
		return template.Unknown("the function resourceGroup is for deployments to a resource group")
	}
	id := p.sees.id()
	g, ok := p.m.group(id)
	if ok {
		return asNode(g.shown())
	}
	n := asNode(object{"id": id.String(), "name": id.Group, "type": own + "/resourceGroups"})
	for _, key := range []string{"location", "tags", "managedBy", "properties"} {
		n.Put(key, template.Unknown(later))
	}
	return n
}

// deploymentFunction is deployment().
func (p *deploymentPlan) deploymentFunction() *jsontree.Node {
	seen := p
	for seen.outer != nil {
		seen = seen.parent
	}
	o := object{"name": seen.id.Name(), "properties": object{
		"mode": "Incremental", "provisioningState": "Accepted", "parameters": object{},
		"template": object{"contentVersion": seen.root.Get("contentVersion")},
	}}
	if seen.at.group == "" {
		o["location"] = seen.location
	}
	return asNode(o)
}

// environment is environment(), with the names of the public cloud: templates make names of hosts and ids of them.
func environment() *jsontree.Node {
	return asNode(object{
		"name": "AzureCloud", "gallery": "https://gallery.azure.com/", "graph": "https://graph.windows.net/",
		"portal": "https://portal.azure.com", "graphAudience": "https://graph.windows.net/",
		"activeDirectoryDataLake": "https://datalake.azure.net/", "batch": "https://batch.core.windows.net/",
		"media": "https://rest.media.azure.net", "sqlManagement": "https://management.core.windows.net:8443/",
		"resourceManager": "https://management.azure.com/",
		"authentication": object{
			"loginEndpoint": "https://login.microsoftonline.com/", "tenant": "common", "identityProvider": "AAD",
			"audiences": []string{"https://management.core.windows.net/", "https://management.azure.com/"},
		},
		"suffixes": object{
			"acrLoginServer": ".azurecr.io", "azureDatalakeAnalyticsCatalogAndJob": "azuredatalakeanalytics.net",
			"azureDatalakeStoreFileSystem": "azuredatalakestore.net", "azureFrontDoorEndpointSuffix": "azurefd.net",
			"keyvaultDns": ".vault.azure.net", "sqlServerHostname": ".database.windows.net",
			"storage": "core.windows.net",
		},
	})
}

// idOf is resourceId() and its relatives: [subscription,] [resource group,] type, names.
func (p *deploymentPlan) idOf(args []*jsontree.Node, inSubscription, inGroup bool) *jsontree.Node {
	at := slices.IndexFunc(args, func(n *jsontree.Node) bool { return strings.Contains(n.Text, "/") })
	if at < 0 || at > 2 {
		return nil
	}
	to := p.sees
	if !inGroup {
		to.group = ""
	}
	switch {
	case !inSubscription && at > 0, !inGroup && at > 1:
		return nil
	case at == 2:
		to = deploymentScope{args[0].Text, args[1].Text}
	case at == 1 && (!inGroup || uuid.Validate(args[0].Text) == nil):
		to = deploymentScope{subscription: args[0].Text}
	case at == 1:
		to.group = args[0].Text
	}
	base := to.id().String()
	if !inSubscription {
		base = ""
	} else if strings.EqualFold(args[at].Text, own+"/resourceGroups") {
		base = subscriptionID(to.subscription).String()
	}
	return idIn(base, args[at:])
}

// idIn returns the id of a resource by its base, and its type and names.
func idIn(base string, args []*jsontree.Node) *jsontree.Node {
	var names []string
	for _, a := range args[1:] {
		names = append(names, strings.Split(template.TextOf(a), "/")...)
	}
	if kind := args[0].Text; strings.Count(kind, "/") == len(names) && len(names) > 0 {
		return asText(resourceID(base, kind, names))
	}
	return nil
}

// target reads the resource and the api-version of reference() or list*(): the id, and what the template has there. If
// ok is false, result is all that the function gives; nil: it does not take such arguments.
func (p *deploymentPlan) target(args []*jsontree.Node) (
	id ID, it *plannedResource, version string, result *jsontree.Node, ok bool,
) {
	if len(args) == 0 || len(args) > 3 {
		return id, nil, "", nil, false
	}
	if p.naming {
		return id, nil, "", template.Unknown(later), false
	}
	id, it, wrong := p.resource(args[0].Text)
	switch {
	case wrong != "" && p.hasUnknown() && !p.running:
		return id, nil, "", template.Unknown(later), false
	case wrong != "":
		return id, nil, "", template.Unknown(wrong), false
	}
	if len(args) > 1 {
		version = args[1].Text
	}
	return id, it, version, nil, true
}

// resource returns the id that a text means, and the resource of this template if it is one.
func (p *deploymentPlan) resource(text string) (id ID, it *plannedResource, wrong string) {
	switch found := p.named(text); {
	case len(found) > 1:
		return id, nil, "there are several resources " + quoted(text) + " in the template"
	case len(found) == 1:
		return found[0].id, found[0], ""
	}
	if !strings.HasPrefix(text, "/") {
		if provider, _, _ := strings.Cut(text, "/"); !strings.Contains(provider, ".") {
			return id, nil, "there is no resource " + quoted(text) + " in the template"
		}
		text = p.at.id().String() + "/" + providers + "/" + text
	}
	id, err := ParseID(text)
	if err != nil || id.isList() || len(id.Names) == 0 {
		return id, nil, quoted(text) + " is not the id of a resource"
	}
	return id, nil, ""
}

func quoted(text string) string { return "'" + text + "'" }

// reference is reference(resource[, api-version[, 'Full']]).
func (p *deploymentPlan) reference(_ *template.Template, _ string, args []*jsontree.Node) *jsontree.Node {
	id, it, version, result, ok := p.target(args)
	if !ok {
		return result
	}
	return p.look(id, it, version, len(args) > 2 && strings.EqualFold(args[2].Text, "full"))
}

// references is references(loop[, 'Full']).
func (p *deploymentPlan) references(_ *template.Template, _ string, args []*jsontree.Node) *jsontree.Node {
	if len(args) == 0 || len(args) > 3 {
		return nil
	}
	if p.naming {
		return template.Unknown(later)
	}
	full := strings.EqualFold(args[len(args)-1].Text, "full")
	all := &jsontree.Node{Kind: jsontree.Array}
	for _, it := range p.loopOf(args[0].Text) {
		all.Items = append(all.Items, p.look(it.id, it, "", full))
	}
	return all
}

// look returns what reference() gives of a resource.
func (p *deploymentPlan) look(id ID, it *plannedResource, version string, full bool) *jsontree.Node {
	if it != nil && p.current != nil {
		p.current.need(it)
	}
	if it != nil && version == "" {
		version = it.version
	}
	unknown := template.Unknown(later)
	if it != nil && it.inner != nil && it.inner.expected != nil && !full {
		unknown = it.inner.expected
	}
	if !p.running && (!p.peeks || it != nil && it.unknown || template.FirstUnknown(unknown) == nil) {
		return unknown
	}
	var n *jsontree.Node
	if it != nil && it.done != nil {
		n = it.done
	} else {
		a := p.ask(http.MethodGet, id, version, nil)
		if e := a.failure(); e != nil {
			if !p.running {
				return unknown
			}
			return template.Unknown("the resource " + quoted(id.String()) + " can't be read: " + e.Message)
		}
		n = asNode(a.body)
		p.m.invent(id, n)
	}
	if full {
		more := *n
		more.Members = slices.Clone(n.Members)
		more.Put("apiVersion", asText(version))
		more.Put("resourceId", n.Member("id"))
		more.Put("subscriptionId", asText(id.Subscription))
		more.Put("resourceGroupName", asText(id.Group))
		template.Weigh(&more)
		return &more
	}
	if properties := n.Member("properties"); properties != nil {
		return properties
	}
	return &jsontree.Node{Kind: jsontree.Object}
}

// list is listKeys(resource, api-version[, body]) and the like: a POST to the resource.
func (p *deploymentPlan) list(_ *template.Template, name string, args []*jsontree.Node) *jsontree.Node {
	id, it, version, result, ok := p.target(args)
	if !ok {
		return result
	}
	if it != nil && p.current != nil {
		p.current.need(it)
	}
	if strings.EqualFold(name, "listOutputsWithSecureValues") && it != nil && it.done != nil {
		values := &jsontree.Node{Kind: jsontree.Object}
		for _, m := range it.done.Get("properties").Get("outputs").Members {
			values.Put(m.Key, m.Value.Member("value"))
		}
		template.Weigh(values)
		return values
	}
	if k := kinds[strings.ToLower(id.Type())]; k.actions[strings.ToLower(name)] == nil &&
		!strings.EqualFold(id.Type(), deploymentsType) {
		return template.Unknown("Minibus has no " + name + "() of resources of the type " + quoted(id.Type()))
	}
	if !p.running && (!p.peeks || it != nil && it.unknown) {
		return template.Unknown(later)
	}
	var body *jsontree.Node
	if len(args) > 2 {
		body = args[2]
	}
	a := p.ask(http.MethodPost, id.Child(name, ""), version, body)
	if e := a.failure(); e != nil {
		if !p.running {
			return template.Unknown(later)
		}
		return template.Unknown(name + "() of " + quoted(id.String()) + " failed: " + e.Message)
	}
	return asNode(a.body)
}

// invented are properties of resources that are only stored, which templates read to make settings of them. Their
// values are made up, and look so.
var invented = []string{"defaultHostName", "fqdn", "vaultUri", "loginServer", "principalId", "customerId",
	"InstrumentationKey", "ConnectionString"}

// invent adds those to what reference() gives of a resource that is only stored.
func (m *Manager) invent(id ID, n *jsontree.Node) {
	if _, ours := kinds[strings.ToLower(id.Type())]; ours || !m.storesOthers {
		return
	}
	properties := n.Get("properties")
	if properties == nil {
		return
	}
	madeUp := func(name string) *jsontree.Node {
		return asText(strings.ToLower(id.Name()) + "." + strings.ToLower(name) + ".made-up-by-minibus.invalid")
	}
	for _, name := range invented {
		if properties.Member(name) == nil {
			properties.Put(name, madeUp(name))
		}
	}
	if properties.Member("primaryEndpoints") == nil {
		endpoints := &jsontree.Node{Kind: jsontree.Object}
		for _, name := range []string{"blob", "queue", "table", "file", "web", "dfs"} {
			endpoints.Put(name, asText("https://"+madeUp(name).Text+"/"))
		}
		properties.Put("primaryEndpoints", endpoints)
	}
	template.Weigh(n)
}
