package export

import (
	"strings"

	"minibus/emulator"
	"minibus/mgmt/atom"
)

// bicepVersion is the API version of the resources. It is the oldest stable one with maxMessageSizeInKilobytes.
const bicepVersion = "2021-11-01"

// maxResources is the most resources that a deployment may have.
const maxResources = 800

const bicepNamespace = "serviceBus"

// writeBicep renders a module that creates the entities in an existing namespace.
func writeBicep(n *Namespace) ([]byte, []string) {
	p := newPlan(n, FormatBicep)
	if len(p.nodes) > maxResources {
		p.warnings = append(p.warnings, "a deployment may have 800 resources, this module has more: split it")
	}
	var b strings.Builder
	b.WriteString(comments("//", []string{"The entities of " + n.Source + ", written by minibus export."}))
	if n.Resource != nil {
		b.WriteString(n.Resource.bicep(n.Name))
	} else {
		b.WriteString("@description('Name of an existing Service Bus namespace.')\nparam namespaceName string\n\n" +
			"resource " + bicepNamespace + " 'Microsoft.ServiceBus/namespaces@" + bicepVersion +
			"' existing = {\n  name: namespaceName\n}\n")
	}
	for _, x := range p.nodes {
		b.WriteString("\n" + comments("//", x.comments) + x.bicep())
	}
	if n.Resource != nil {
		b.WriteString(n.Resource.bicepAccess(p))
	}
	return []byte(b.String()), p.warnings
}

func (n *node) bicep() string {
	switch {
	case n.queue != nil:
		return n.bicepResource("queues", n.full, bicepQueue(n))
	case n.topic != nil:
		return n.bicepResource("topics", n.full, bicepTopic(n.topic.Options))
	case n.subscription != nil:
		properties := append(bicepSubscription(n), bicepClient(n.subscription.Client)...)
		return n.bicepResource("topics/subscriptions", n.subscription.Name, properties)
	case n.rule != nil:
		return n.bicepResource("topics/subscriptions/rules", n.rule.Name, bicepRule(n.rule))
	case n.parent.queue != nil:
		return n.bicepResource("queues/authorizationRules", n.access.Name, bicepAccess(n.access))
	}
	return n.bicepResource("topics/authorizationRules", n.access.Name, bicepAccess(n.access))
}

func (n *node) bicepResource(kind, name string, properties []attr) string {
	parent := bicepNamespace
	if n.parent != nil {
		parent = n.parent.id
	}
	// The resource manager separates names with slashes. In a name it wants a tilde instead.
	body := []attr{
		{"parent", expression(parent)},
		{"name", strings.ReplaceAll(name, "/", "~")},
		{"properties", object(properties)},
	}
	var depends []any
	for _, t := range []target{n.forwardTo, n.forwardDeadLettered} {
		if t.node == nil || t.node == n.parent || len(depends) == 1 && depends[0] == expression(t.node.id) {
			continue
		}
		depends = append(depends, expression(t.node.id))
	}
	if depends != nil {
		body = append(body, attr{"dependsOn", depends})
	}
	return "resource " + n.id + " 'Microsoft.ServiceBus/namespaces/" + kind + "@" + bicepVersion + "' = {\n" +
		bicepBody(body, "  ") + "}\n"
}

func bicepQueue(n *node) []attr {
	o := n.queue.Options
	list := bicepShared(n, o)
	list = duplicates(list, bicepStorage, o.RequiresDuplicateDetection, o.DuplicateDetectionWindow)
	return storage(list, bicepStorage, o.EnablePartitioning, o.Admin.EnableExpress, o.MaxSizeInMegabytes,
		o.MaxMessageSizeInKilobytes)
}

// bicepShared returns the properties that queues and subscriptions share.
func bicepShared(n *node, o emulator.QueueOptions) []attr {
	list := []attr{
		{"lockDuration", atom.SpanOf(o.LockDuration).String()},
		{"maxDeliveryCount", o.MaxDeliveryCount},
		{"defaultMessageTimeToLive", duration(o.DefaultMessageTimeToLive)},
		{"deadLetteringOnMessageExpiration", o.DeadLetteringOnExpiration},
		{"requiresSession", o.RequiresSession},
		{"enableBatchedOperations", unlessTrue(o.EnableBatchedOperations) == nil},
	}
	list = optional(list, "autoDeleteOnIdle", idle(o.AutoDeleteOnIdle))
	list = optional(list, "forwardTo", n.forwardTo.path)
	list = optional(list, "forwardDeadLetteredMessagesTo", n.forwardDeadLettered.path)
	return optional(list, "status", status(o.Status))
}

// bicepStorage are the names for storage.
var bicepStorage = storageNames{"requiresDuplicateDetection", "duplicateDetectionHistoryTimeWindow",
	"enablePartitioning", "enableExpress",
	"maxSizeInMegabytes", "maxMessageSizeInKilobytes"}

func bicepTopic(o emulator.TopicOptions) []attr {
	list := []attr{
		{"defaultMessageTimeToLive", duration(o.DefaultMessageTimeToLive)},
		{"supportOrdering", o.SupportOrdering},
		{"enableBatchedOperations", unlessTrue(o.EnableBatchedOperations) == nil},
	}
	list = duplicates(list, bicepStorage, o.RequiresDuplicateDetection, o.DuplicateDetectionWindow)
	list = storage(list, bicepStorage, o.EnablePartitioning, o.Admin.EnableExpress, o.MaxSizeInMegabytes,
		o.MaxMessageSizeInKilobytes)
	list = optional(list, "autoDeleteOnIdle", idle(o.AutoDeleteOnIdle))
	return optional(list, "status", status(o.Status))
}

func bicepSubscription(n *node) []attr {
	onFilterErrors := attr{"deadLetteringOnFilterEvaluationExceptions", n.subscription.FilterErrors}
	return append(bicepShared(n, n.subscription.Options), onFilterErrors)
}

// bicepClient returns the properties of a subscription of JMS clients.
func bicepClient(c *emulator.ClientAffine) []attr {
	if c == nil {
		return nil
	}
	return []attr{{"isClientAffine", true}, {"clientAffineProperties", object{
		{"clientId", c.ClientID}, {"isDurable", c.Durable}, {"isShared", c.Shared},
	}}}
}

func bicepRule(r *plainRule) []attr {
	var list []attr
	if r.Filter.Kind == atom.CorrelationFilter {
		var filter object
		for _, t := range r.Filter.Correlation {
			filter = append(filter, attr{strings.ToLower(t.Property[:1]) + t.Property[1:], t.Value})
		}
		if properties := textProperties(r.Filter.Properties); properties != nil {
			filter = append(filter, attr{"properties", properties})
		}
		list = []attr{{"filterType", "CorrelationFilter"}, {"correlationFilter", filter}}
	} else {
		list = []attr{{"filterType", "SqlFilter"}, {"sqlFilter", object{{"sqlExpression", r.Filter.SQL}}}}
	}
	if r.Action != "" {
		list = append(list, attr{"action", object{{"sqlExpression", r.Action}}})
	}
	return list
}

// textProperties returns the application properties of a correlation filter, sorted. plain has left only text.
func textProperties(list []atom.Parameter) object {
	var o object
	for _, x := range sortedParameters(list) {
		text, _ := x.Value.(string)
		o = append(o, attr{x.Key, text})
	}
	return o
}

func bicepAccess(a *Access) []attr {
	var rights []any
	for _, r := range a.Rights {
		rights = append(rights, r)
	}
	return []attr{{"rights", rights}}
}
