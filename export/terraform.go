package export

import (
	"slices"
	"strconv"
	"strings"

	"minibus/emulator"
	"minibus/mgmt/atom"
)

// terraformHead names the provider. Its fourth version has the arguments of this module.
const terraformHead = `terraform {
  required_providers {
    azurerm = {
      source  = "hashicorp/azurerm"
      version = "~> 4.0"
    }
  }
}

`

// terraformFeatures says what a module with filtered subscriptions needs, as it can't delete a rule itself.
const terraformFeatures = "" +
	`# Azure makes each subscription with the rule $Default, which takes everything. Let the provider (4.81 or later)
# delete it. Otherwise, the subscriptions get more messages than those that they are copied from:
#   provider "azurerm" {
#     features {
#       servicebus { auto_delete_subscription_default_rule = true }
#     }
#   }
`

// terraformVariable names the namespace that a module adds entities to.
const terraformVariable = `variable "namespace_id" {
  type        = string
  description = "Resource id of an existing Service Bus namespace."
}
`

// writeTerraform renders a module that creates the entities in an existing namespace.
func writeTerraform(n *Namespace) ([]byte, []string) {
	w := &terraform{plan: newPlan(n, FormatTerraform), namespace: "var.namespace_id"}
	own := terraformVariable
	var b strings.Builder
	b.WriteString(comments("#", []string{"The entities of " + n.Source + ", written by minibus export."}))
	if n.Resource != nil {
		w.namespace, own = terraformNamespace, n.Resource.terraform(n.Name)
		b.WriteString(comments("#", []string{"Add a provider block, and create the resource group " + n.Resource.Group +
			" first."}))
	}
	if list := w.plan.filtered; len(list) > 0 {
		b.WriteString(terraformFeatures)
		names := strings.Join(list[:min(len(list), 3)], ", ")
		if more := len(list) - 3; more > 0 {
			names += " and " + strconv.Itoa(more) + " more"
		}
		w.plan.warnings = append(w.plan.warnings, names+": the copy also has the rule $Default, which takes "+
			"everything, unless your provider block has "+
			"features { servicebus { auto_delete_subscription_default_rule = true } }")
	}
	b.WriteString(terraformHead + own)
	for _, x := range w.plan.nodes {
		kind, body := w.resource(x) // may add comments
		b.WriteString("\n" + comments("#", x.comments) +
			"resource " + hclString(kind) + " " + hclString(x.id) + " {\n" + hclBody(body, "  ") + "}\n")
	}
	if n.Resource != nil {
		b.WriteString(n.Resource.terraformAccess(w.plan))
	}
	return []byte(b.String()), w.plan.warnings
}

type terraform struct {
	plan      *plan
	namespace expression // its id
}

const terraformPrefix = "azurerm_servicebus_"

func (w *terraform) resource(n *node) (kind string, body []attr) {
	switch {
	case n.queue != nil:
		return n.terraformKind(), w.queue(n)
	case n.topic != nil:
		return n.terraformKind(), w.topic(n)
	case n.subscription != nil:
		return n.terraformKind(), w.subscription(n)
	case n.rule != nil:
		return n.terraformKind(), w.rule(n)
	}
	return n.terraformKind(), w.access(n)
}

func (n *node) terraformKind() string {
	switch {
	case n.queue != nil:
		return terraformPrefix + "queue"
	case n.topic != nil:
		return terraformPrefix + "topic"
	case n.subscription != nil:
		return terraformPrefix + "subscription"
	case n.rule != nil:
		return terraformPrefix + "subscription_rule"
	}
	return n.parent.terraformKind() + "_authorization_rule"
}

func (n *node) reference(attribute string) expression {
	return expression(n.terraformKind() + "." + n.id + "." + attribute)
}

// terraformName returns the name that the resource manager has for a queue or topic, with tildes for slashes.
func terraformName(path string) string { return strings.ReplaceAll(path, "/", "~") }

func (w *terraform) queue(n *node) []attr {
	o := n.queue.Options
	list := []attr{{"name", terraformName(n.full)}, {"namespace_id", w.namespace}}
	list = append(list, shared(o)...)
	list = duplicates(list, terraformStorage, o.RequiresDuplicateDetection, o.DuplicateDetectionWindow)
	list = storage(list, terraformStorage, o.EnablePartitioning, o.Admin.EnableExpress, o.MaxSizeInMegabytes,
		o.MaxMessageSizeInKilobytes)
	list = optional(list, "status", status(o.Status))
	return forwards(list, n)
}

// shared returns the arguments that queues and subscriptions share.
func shared(o emulator.QueueOptions) []attr {
	list := []attr{
		{"lock_duration", atom.SpanOf(o.LockDuration).String()},
		{"max_delivery_count", o.MaxDeliveryCount},
		{"default_message_ttl", duration(o.DefaultMessageTimeToLive)},
		{"dead_lettering_on_message_expiration", o.DeadLetteringOnExpiration},
		{"requires_session", o.RequiresSession},
		{"batched_operations_enabled", unlessTrue(o.EnableBatchedOperations) == nil},
	}
	return optional(list, "auto_delete_on_idle", idle(o.AutoDeleteOnIdle))
}

// forwards adds the targets, by reference if the module has them. A reference to a name with a slash would give the
// name with a tilde, so such a target is written as text, and depends_on makes the order.
func forwards(list []attr, n *node) []attr {
	var depends []any
	for _, x := range []struct {
		name string
		target
	}{{"forward_to", n.forwardTo}, {"forward_dead_lettered_messages_to", n.forwardDeadLettered}} {
		switch {
		case x.path == "":
		case x.node == nil:
			list = append(list, attr{x.name, x.path})
		case strings.Contains(x.path, "/"):
			list = append(list, attr{x.name, x.path})
			whole := expression(x.node.terraformKind() + "." + x.node.id)
			if x.node != n.parent && !slices.Contains(depends, any(whole)) {
				depends = append(depends, whole)
			}
		default:
			list = append(list, attr{x.name, x.node.reference("name")})
		}
	}
	if depends != nil {
		list = append(list, attr{"depends_on", depends})
	}
	return list
}

func (w *terraform) topic(n *node) []attr {
	o := n.topic.Options
	list := []attr{{"name", terraformName(n.full)}, {"namespace_id", w.namespace},
		{"default_message_ttl", duration(o.DefaultMessageTimeToLive)}, {"support_ordering", o.SupportOrdering},
		{"batched_operations_enabled", unlessTrue(o.EnableBatchedOperations) == nil}}
	list = optional(list, "auto_delete_on_idle", idle(o.AutoDeleteOnIdle))
	list = duplicates(list, terraformStorage, o.RequiresDuplicateDetection, o.DuplicateDetectionWindow)
	list = storage(list, terraformStorage, o.EnablePartitioning, o.Admin.EnableExpress, o.MaxSizeInMegabytes,
		o.MaxMessageSizeInKilobytes)
	return w.status(list, n, o.Status, emulator.StatusDisabled)
}

func (w *terraform) subscription(n *node) []attr {
	s := n.subscription
	list := []attr{{"name", s.Name}, {"topic_id", n.parent.reference("id")}}
	if c := s.Client; c != nil {
		list[0].value, _ = emulator.ClientAffineOf(s.Name) // the provider adds the rest
		list = append(list, attr{"client_scoped_subscription_enabled", true})
	}
	list = append(list, shared(s.Options)...)
	list = append(list, attr{"dead_lettering_on_filter_evaluation_error", s.FilterErrors})
	list = w.status(list, n, s.Options.Status, emulator.StatusDisabled, emulator.StatusReceiveDisabled)
	if c := s.Client; c != nil {
		list = append(list, attr{"client_scoped_subscription", block{
			{"client_id", c.ClientID}, {"is_client_scoped_subscription_shareable", c.Shared},
		}})
	}
	return forwards(list, n)
}

// status adds a status if the provider takes it, and notes it if not.
func (w *terraform) status(list []attr, n *node, s emulator.Status, allowed ...emulator.Status) []attr {
	if s != emulator.StatusActive && s != "" && !slices.Contains(allowed, s) {
		w.plan.note(n, "its status, %s, is left out: the provider does not take it", s)
		return list
	}
	return optional(list, "status", status(s))
}

// rule returns the arguments of a rule. $Default, in any spelling, exists as soon as its subscription does, so
// Terraform can't create it. It gets another name, which the provider does not delete.
func (w *terraform) rule(n *node) []attr {
	name := n.rule.Name
	if isDefault(atom.Rule{Name: name}) {
		name = freeName(n.parent.subscription.Rules)
		w.plan.note(n, "the rule is named %s here: Terraform can't create %s", name, n.rule.Name)
	}
	list := []attr{{"name", name}, {"subscription_id", n.parent.reference("id")}}
	if n.rule.Filter.Kind != atom.CorrelationFilter {
		list = append(list, attr{"filter_type", "SqlFilter"}, attr{"sql_filter", n.rule.Filter.SQL})
		return optional(list, "action", n.rule.Action)
	}
	list = optional(append(list, attr{"filter_type", "CorrelationFilter"}), "action", n.rule.Action)
	var filter block
	for _, t := range n.rule.Filter.Correlation {
		filter = append(filter, attr{snake(t.Property), t.Value})
	}
	if properties := textProperties(n.rule.Filter.Properties); properties != nil {
		filter = append(filter, attr{"properties", properties})
	}
	return append(list, attr{"correlation_filter", filter})
}

// freeName returns a name for the default rule that no other rule of the subscription has.
func freeName(rules []atom.Rule) string {
	name := "Default"
	for slices.ContainsFunc(rules, func(r atom.Rule) bool { return strings.EqualFold(r.Name, name) }) {
		name += "_"
	}
	return name
}

// snake turns ReplyToSessionId into reply_to_session_id.
func snake(s string) string {
	var b strings.Builder
	for i, r := range s {
		if i > 0 && r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteString(strings.ToLower(string(r)))
	}
	return b.String()
}

func (w *terraform) access(n *node) []attr {
	parent := "queue_id"
	if n.parent.topic != nil {
		parent = "topic_id"
	}
	return []attr{{"name", n.access.Name}, {parent, n.parent.reference("id")}, {"listen", n.access.has("Listen")},
		{"send", n.access.has("Send")}, {"manage", n.access.has("Manage")}}
}
