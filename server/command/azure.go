package command

import (
	"cmp"
	"log/slog"
	"strings"

	"minibus/server"
)

// beyondAzure is something that Minibus took and Azure refuses.
type beyondAzure struct {
	Namespace string   `json:"namespace"`
	Entity    string   `json:"entity"` // path; empty: the namespace
	Tiers     []string `json:"tiers"`  // that refuse it
	Text      string   `json:"text"`
	Count     int64    `json:"count"`
}

// String says who refuses what.
func (b beyondAzure) String() string {
	text := cmp.Or(b.Entity, b.Namespace) + "\t" + b.Text
	if len(b.Tiers) < len(server.Tiers) {
		text += " (" + strings.Join(b.Tiers, ", ") + ")"
	}
	return text
}

// findBeyond returns what the broker has noted of messages, and what Azure's tiers refuse of the entities that there
// are. A server with a profile other than relaxed has refused all that.
func findBeyond(a *server.Server) []beyondAzure {
	list := []beyondAzure{}
	for _, n := range a.Broker().Beyond() {
		list = append(list, beyondAzure{n.Namespace, n.Entity, server.Tiers, n.Text + " (" + n.Rule + ")", n.Count})
	}
	for _, ns := range a.Broker().Namespaces() {
		for _, r := range a.AllAzureRefusals(ns) {
			list = append(list, beyondAzure{ns.Name(), r.Entity, r.Tiers, r.Text, 1})
		}
	}
	return list
}

// maxRefusals is how many entities a start warns of.
const maxRefusals = 10

// warnOfRefusals warns of settings in the default namespace that no tier of Azure takes.
func warnOfRefusals(a *server.Server, log *slog.Logger) {
	n := 0
	ns := a.Broker().Default()
	for _, r := range a.AzureRefusals(ns) {
		if !r.EveryTier() {
			continue
		}
		if n++; n <= maxRefusals {
			log.Warn("Azure would refuse this entity", "namespace", ns.Name(), "entity", r.Entity, "reason", r.Text)
		}
	}
	if n > maxRefusals {
		log.Warn("Azure would refuse more entities: minibus why ENTITY says which", "more", n-maxRefusals)
	}
}
