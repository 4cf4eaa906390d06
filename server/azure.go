package server

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"minibus/config"
	"minibus/emulator"
	"minibus/mgmt/control"
)

// Tiers are the tiers of Azure whose limits are asked for.
var Tiers = []string{"standard", "premium"}

// azureRefusals keeps what the tiers refuse of one configuration, the one that was asked for last.
type azureRefusals struct {
	mu   sync.Mutex
	ns   *emulator.Namespace
	text []byte
	list []control.AzureRefusal
}

// maxRead is up to how many queues and topics of a namespace are read for every answer about them.
const maxRead = 1000

// AzureRefusals implements [control.Configurations].
func (a *Server) AzureRefusals(ns *emulator.Namespace) []control.AzureRefusal {
	_, queues := ns.Entities().Page(emulator.KindQueue, 0, 0)
	_, topics := ns.Entities().Page(emulator.KindTopic, 0, 0)
	if queues+topics > maxRead {
		return nil
	}
	return a.AllAzureRefusals(ns)
}

// AllAzureRefusals is [Server.AzureRefusals] of a namespace of any size, up to 25 of each tier, as many as a report
// keeps. A namespace with a profile other than relaxed has refused all that already.
func (a *Server) AllAzureRefusals(ns *emulator.Namespace) []control.AzureRefusal {
	if ns.Profile() != emulator.ProfileRelaxed {
		return nil
	}
	text, err := a.WriteConfiguration(ns, false)
	if err != nil {
		return nil // it has entities that no file can name
	}
	r := &a.azure
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ns != ns || !bytes.Equal(r.text, text) {
		r.ns, r.text = ns, text
		r.list = refusedByTiers(text)
	}
	return r.list
}

// refusedByTiers returns what the tiers refuse of a Config.json that Minibus wrote, in the order of the file.
func refusedByTiers(text []byte) (list []control.AzureRefusal) {
	for _, tier := range Tiers {
		_, report := config.Parse("Config.json", text, config.Profile(tier))
		for _, f := range report.Findings {
			if f.Severity != config.Error {
				continue
			}
			entity, rule := placeOf(text, f.Path)
			r := control.AzureRefusal{Entity: entity, Setting: f.Path[strings.LastIndexByte(f.Path, '.')+1:]}
			r.Text = r.Setting + ": " + f.Found
			if f.Allowed != "" {
				r.Text += "; allowed: " + f.Allowed
			}
			if rule != "" {
				r.Setting, r.Text = rule+"."+r.Setting, "rule "+rule+": "+r.Text
			}
			i := slices.IndexFunc(list, func(x control.AzureRefusal) bool {
				return x.Entity == r.Entity && x.Setting == r.Setting
			})
			if i < 0 {
				i = len(list)
				list = append(list, r)
			}
			list[i].Tiers = append(list[i].Tiers, tier)
		}
	}
	return list
}

var stepOfPath = regexp.MustCompile(`\.(\w+)\[(\d+)\]`)

// placeOf returns the path of the entity at a place such as $.UserConfig.Namespaces[0].Topics[1].Subscriptions[0], and
// the name of the rule if the place is in one.
func placeOf(text []byte, place string) (entity, rule string) {
	var file struct{ UserConfig any }
	if json.Unmarshal(text, &file) != nil {
		return "", ""
	}
	at := file.UserConfig
	for _, step := range stepOfPath.FindAllStringSubmatch(place, -1) {
		object, _ := at.(map[string]any)
		list, _ := object[step[1]].([]any)
		i, _ := strconv.Atoi(step[2])
		if i >= len(list) {
			break
		}
		at = list[i]
		object, _ = at.(map[string]any)
		name, _ := object["Name"].(string)
		switch step[1] {
		case "Queues", "Topics":
			entity = name
		case "Subscriptions":
			entity += "/Subscriptions/" + name
		case "Rules":
			rule = name
		}
	}
	return entity, rule
}
