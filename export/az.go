package export

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"minibus/emulator"
	"minibus/mgmt/atom"
)

func sortedKeys[V any](of map[string]V) []string { return slices.Sorted(maps.Keys(of)) }

// azFlags are az's names of properties.
var azFlags = map[string]string{
	"lockDuration":                              "lock-duration",
	"maxDeliveryCount":                          "max-delivery-count",
	"defaultMessageTimeToLive":                  "default-message-time-to-live",
	"deadLetteringOnMessageExpiration":          "enable-dead-lettering-on-message-expiration",
	"deadLetteringOnFilterEvaluationExceptions": "dead-letter-on-filter-exceptions",
	"requiresSession":                           "enable-session",
	"enableBatchedOperations":                   "enable-batched-operations",
	"autoDeleteOnIdle":                          "auto-delete-on-idle",
	"forwardTo":                                 "forward-to",
	"forwardDeadLetteredMessagesTo":             "forward-dead-lettered-messages-to",
	"status":                                    "status",
	"requiresDuplicateDetection":                "enable-duplicate-detection",
	"duplicateDetectionHistoryTimeWindow":       "duplicate-detection-history-time-window",
	"enablePartitioning":                        "enable-partitioning",
	"enableExpress":                             "enable-express",
	"maxSizeInMegabytes":                        "max-size",
	"maxMessageSizeInKilobytes":                 "max-message-size",
	"supportOrdering":                           "enable-ordering",
	"isClientAffine":                            "is-client-affine",
	"clientId":                                  "client-id",
	"isDurable":                                 "is-durable",
	"isShared":                                  "is-shared",
}

// azDefaults are the values that need no flag, but for false.
var azDefaults = map[string]any{
	"lockDuration":                              atom.SpanOf(emulator.DefaultLockDuration).String(),
	"maxDeliveryCount":                          emulator.DefaultMaxDelivery,
	"defaultMessageTimeToLive":                  atom.MaxTimeSpan.String(),
	"deadLetteringOnFilterEvaluationExceptions": true,
	"enableBatchedOperations":                   true,
	"supportOrdering":                           true,
	"maxSizeInMegabytes":                        int64(emulator.DefaultMegabytes),
}

// azHead says what the lines need.
const azHead = "# Set RESOURCE_GROUP and NAMESPACE to an existing Service Bus namespace.\n"

// azScript are the commands of az that create the entities of a namespace.
type azScript struct {
	*plan
	b     strings.Builder
	group string // as a word of a shell
	name  string
}

// writeAz renders commands of az for a shell. What has its default has no flag.
func writeAz(n *Namespace) ([]byte, []string) {
	w := &azScript{plan: newPlan(n, FormatAz), group: `"$RESOURCE_GROUP"`, name: `"$NAMESPACE"`}
	w.b.WriteString(comments("#", []string{"The entities of " + n.Source + ", as commands of az."}))
	if n.Resource == nil {
		w.b.WriteString(azHead)
	} else {
		w.group, w.name = shellWord(n.Resource.Group), shellWord(n.Name)
		w.namespace(n.Resource)
	}
	for _, x := range w.nodes {
		w.b.WriteString(comments("#", x.comments))
		w.entity(x)
	}
	if n.Resource != nil {
		w.access(n.Resource)
	}
	return []byte(w.b.String()), w.warnings
}

// azColumns is how long a line of the script should be at most.
const azColumns = 80

// line writes one command, on several lines if it is long. A flag and its value stay together.
func (w *azScript) line(words ...string) {
	column := len("az")
	w.b.WriteString("az")
	for i := 0; i < len(words); i++ {
		part := words[i]
		if isFlag := strings.HasPrefix(part, "-") && !strings.Contains(part, " "); isFlag && i+1 < len(words) {
			i++
			part += " " + words[i]
		}
		if column+len(" "+part+" \\") > azColumns && column > len("az") {
			w.b.WriteString(" \\\n ")
			column = 1
		}
		w.b.WriteString(" " + part)
		column += len(" " + part)
	}
	w.b.WriteString("\n")
}

// in are the flags that name the namespace.
func (w *azScript) in() string { return "-g " + w.group + " --namespace-name " + w.name }

func (w *azScript) namespace(r *Resource) {
	words := []string{"servicebus namespace create -g", w.group, "-n", w.name, "--sku", shellWord(r.SKU)}
	if r.Location != "" {
		words = append(words, "-l", shellWord(r.Location))
	}
	if r.Capacity > 0 {
		words = append(words, "--capacity", strconv.Itoa(r.Capacity))
	}
	if r.KeysAreOff {
		words = append(words, "--disable-local-auth true")
	}
	if r.System {
		words = append(words, "--mi-system-assigned true")
	}
	if len(r.Identities) > 0 {
		words = append(words, "--mi-user-assigned")
		for _, id := range r.Identities {
			words = append(words, shellWord(id))
		}
	}
	if len(r.Tags) > 0 {
		words = append(words, "--tags")
		for _, name := range sortedKeys(r.Tags) {
			words = append(words, shellWord(name+"="+r.Tags[name]))
		}
	}
	w.line(words...)
}

func (w *azScript) entity(n *node) {
	name := func(text string) string { return shellWord(strings.ReplaceAll(text, "/", "~")) }
	switch {
	case n.queue != nil:
		properties := azProperties(bicepQueue(n))
		w.line(append([]string{"servicebus queue create", w.in(), "-n", name(n.full)}, properties...)...)
	case n.topic != nil:
		properties := azProperties(bicepTopic(n.topic.Options))
		w.line(append([]string{"servicebus topic create", w.in(), "-n", name(n.full)}, properties...)...)
	case n.subscription != nil:
		properties := azProperties(append(bicepSubscription(n), azClient(n.subscription.Client)...))
		w.line(append([]string{"servicebus topic subscription create", w.in(), "--topic-name", name(n.parent.full),
			"-n", name(n.subscription.Name)}, properties...)...)
	case n.rule != nil:
		w.rule(n, name(n.parent.parent.full), name(n.parent.subscription.Name))
	default:
		kind := "queue"
		if n.parent.topic != nil {
			kind = "topic"
		}
		w.line("servicebus", kind, "authorization-rule create", w.in(), "--"+kind+"-name", name(n.parent.full),
			"-n", shellWord(n.access.Name), "--rights", strings.Join(n.access.Rights, " "))
	}
}

// azClient returns the properties of a subscription of JMS clients, each of which has a flag.
func azClient(c *emulator.ClientAffine) []attr {
	if c == nil {
		return nil
	}
	return []attr{{"isClientAffine", true}, {"clientId", c.ClientID}, {"isDurable", true}, {"isShared", c.Shared}}
}

// azProperties returns the flags of an entity's properties.
func azProperties(list []attr) (words []string) {
	for _, a := range list {
		if a.value == false && azDefaults[a.name] == nil || a.value == azDefaults[a.name] {
			continue
		}
		words = append(words, "--"+azFlags[a.name], shellWord(fmt.Sprint(a.value)))
	}
	return words
}

// rule writes a rule. A new subscription has one that takes everything: the last of others removes it.
func (w *azScript) rule(n *node, topic, subscription string) {
	at := w.in() + " --topic-name " + topic + " --subscription-name " + subscription
	words := []string{"servicebus topic subscription rule create", at, "-n", shellWord(n.rule.Name)}
	if strings.EqualFold(n.rule.Name, emulator.DefaultRuleName) {
		words[0] = "servicebus topic subscription rule update"
	}
	if n.rule.Filter.Kind == atom.CorrelationFilter {
		words = append(words, "--filter-type CorrelationFilter")
		for _, t := range n.rule.Filter.Correlation {
			words = append(words, "--"+strings.ReplaceAll(snake(t.Property), "_", "-"), shellWord(t.Value))
		}
		if properties := textProperties(n.rule.Filter.Properties); properties != nil {
			words = append(words, "--correlation-filter-property")
			for _, p := range properties {
				words = append(words, shellWord(fmt.Sprintf("%s=%s", p.name, p.value)))
			}
		}
	} else {
		words = append(words, "--filter-sql-expression", azText(n.rule.Filter.SQL))
	}
	if n.rule.Action != "" {
		words = append(words, "--action-sql-expression", azText(n.rule.Action))
	}
	w.line(words...)
	rules, last := n.parent.subscription.Rules, n.rule.Name
	if n := len(rules); n > 0 && rules[n-1].Name == last && !slices.ContainsFunc(rules, isDefault) {
		w.line("servicebus topic subscription rule delete", at, "-n", shellWord(emulator.DefaultRuleName))
	}
}

// access writes the policies of the namespace and the role assignments.
func (w *azScript) access(r *Resource) {
	for _, a := range r.extra() {
		w.line("servicebus namespace authorization-rule create", w.in(), "-n", shellWord(a.Name), "--rights",
			strings.Join(a.Rights, " "))
	}
	for _, role := range r.Roles {
		w.line("role assignment create --role", shellWord(role.Role),
			"--assignee-object-id", shellWord(role.Principal),
			"--assignee-principal-type", shellWord(role.PrincipalType), "--scope", shellWord(role.Scope))
	}
}

// azText returns a text as a word. az reads a file for what begins with @, and takes the quotes off what begins with
// one: a space keeps it from both, and counts for nothing in an expression.
func azText(s string) string {
	if strings.HasPrefix(s, "@") || strings.HasPrefix(s, "'") {
		s = " " + s
	}
	return shellWord(s)
}

// shellWord returns a text as one word of a POSIX shell.
func shellWord(s string) string {
	plain := s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') &&
			!strings.ContainsRune("-_./:=,", r)
	})
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
