package command

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"minibus/config"
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

var tiers = []string{checkStandard, checkPremium}

// String says who refuses what.
func (b beyondAzure) String() string {
	text := cmp.Or(b.Entity, b.Namespace) + "\t" + b.Text
	if len(b.Tiers) < len(tiers) {
		text += " (" + strings.Join(b.Tiers, ", ") + ")"
	}
	return text
}

// findBeyond returns what the broker has noted of messages, and what Azure's tiers refuse of the entities that there
// are. A server with a profile other than relaxed has refused all that.
func findBeyond(a *server.Server) []beyondAzure {
	list := []beyondAzure{}
	for _, n := range a.Broker().Beyond() {
		list = append(list, beyondAzure{n.Namespace, n.Entity, tiers, n.Text + " (" + n.Rule + ")", n.Count})
	}
	for _, ns := range a.Broker().Namespaces() {
		text, err := a.WriteConfiguration(ns, false)
		if err != nil {
			continue // it has entities that no file can name
		}
		for _, tier := range tiers {
			_, report := config.Parse("Config.json", text, config.Limits(tier))
			for _, f := range report.Findings {
				if f.Severity != config.Error {
					continue
				}
				b := beyondAzure{Namespace: ns.Name(), Entity: entityAt(text, f.Path), Text: about(f), Count: 1}
				i := slices.IndexFunc(list, func(x beyondAzure) bool {
					return x.Namespace == b.Namespace && x.Entity == b.Entity && x.property() == b.property()
				})
				if i < 0 {
					i = len(list)
					list = append(list, b)
				}
				list[i].Tiers = append(slices.Clip(list[i].Tiers), tier)
			}
		}
	}
	return list
}

// about says in a sentence what a finding is about.
func about(f config.Finding) string {
	text := f.Path[strings.LastIndexByte(f.Path, '.')+1:] + ": " + f.Found
	if f.Allowed != "" {
		text += "; allowed: " + f.Allowed
	}
	return text
}

// property is the name in front of the text. The tiers differ in what they allow.
func (b beyondAzure) property() string {
	name, _, _ := strings.Cut(b.Text, ":")
	return name
}

var pathStep = regexp.MustCompile(`\.(\w+)\[(\d+)\]`)

// entityAt returns the path of the entity at a place such as $.UserConfig.Namespaces[0].Topics[1].Subscriptions[0].
func entityAt(text []byte, place string) string {
	var file struct{ UserConfig any }
	if json.Unmarshal(text, &file) != nil {
		return ""
	}
	var names []string
	at := file.UserConfig
	for _, step := range pathStep.FindAllStringSubmatch(place, -1) {
		object, _ := at.(map[string]any)
		list, _ := object[step[1]].([]any)
		i, _ := strconv.Atoi(step[2])
		if i >= len(list) {
			break
		}
		at = list[i]
		if object, ok := at.(map[string]any); ok && step[1] != "Namespaces" {
			name, _ := object["Name"].(string)
			names = append(names, name)
		}
	}
	return strings.Join(names, "/")
}
