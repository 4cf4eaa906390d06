package control

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"minibus/emulator"
	"minibus/mgmt/control/api"
)

// actions are the names of what is done to entities, and where they are counted.
var actions = map[emulator.Action]struct {
	name  string
	count func(*api.DiffSummary) *int
}{
	emulator.ActionCreate: {"create", func(s *api.DiffSummary) *int { return &s.Create }},
	emulator.ActionChange: {"change", func(s *api.DiffSummary) *int { return &s.Change }},
	emulator.ActionDelete: {"delete", func(s *api.DiffSummary) *int { return &s.Delete }},
	emulator.ActionKeep:   {"keep", func(s *api.DiffSummary) *int { return &s.Keep }},
	emulator.ActionLeave:  {"leave", func(s *api.DiffSummary) *int { return &s.Leave }},
	emulator.ActionRefuse: {"refuse", func(s *api.DiffSummary) *int { return &s.Refuse }},
}

// shownDiff returns a plan as answers show it.
func (h *handler) shownDiff(ns *emulator.Namespace, plan []emulator.Planned, notes []string) api.ConfigDiff {
	d := api.ConfigDiff{Notes: append([]string{}, notes...), Entities: []api.EntityDiff{}}
	for i := range plan {
		p := &plan[i]
		action := actions[p.Action]
		*action.count(&d.Summary)++
		e := api.EntityDiff{Path: p.Path, Kind: kinds[p.Kind], Action: action.name}
		if p.Why != nil {
			e.Why = p.Why.Error()
		}
		if p.Action == emulator.ActionChange || p.Action == emulator.ActionRefuse {
			e.Settings = h.settingDiffs(ns, p)
		}
		d.Entities = append(d.Entities, e)
	}
	s := d.Summary
	d.Same = s.Create+s.Change+s.Delete+s.Refuse == 0
	return d
}

// settingDiffs returns the settings and rules in which an entity differs from what it is to be.
func (h *handler) settingDiffs(ns *emulator.Namespace, p *emulator.Planned) (list []api.SettingDiff) {
	old, next := h.server.WriteSettings(ns, p.Old, true), h.server.WriteSettings(ns, p.New, true)
	if len(old) == 0 {
		return nil // an entity of another kind is there
	}
	for _, to := range next {
		i := slices.IndexFunc(old, func(s Setting) bool { return s.Name == to.Name })
		var from any
		if i >= 0 {
			from = old[i].Value
		}
		if equalJSON(from, to.Value) {
			continue
		}
		if to.Name == "AuthorizationRules" {
			from, to.Value = withoutKeys(from), withoutKeys(to.Value)
		}
		fixed := slices.Contains(p.Fixed, to.Name)
		list = append(list, api.SettingDiff{Name: to.Name, From: from, To: to.Value, Fixed: fixed})
	}
	for _, from := range old { // an empty list of policies is no setting
		if !slices.ContainsFunc(next, func(s Setting) bool { return s.Name == from.Name }) {
			list = append(list, api.SettingDiff{Name: from.Name, From: withoutKeys(from.Value)})
		}
	}
	if p.New.Subscription != nil {
		list = append(list, h.ruleDiffs(p.Old.Subscription.Rules, p.New.Subscription.Rules)...)
	}
	return list
}

// ruleDiffs returns the rules that differ.
func (h *handler) ruleDiffs(old, next []emulator.RuleOptions) (list []api.SettingDiff) {
	find := func(rules []emulator.RuleOptions, name string) any {
		for _, r := range rules {
			if strings.EqualFold(r.Name, name) {
				return filterAndAction(h.server.WriteRule(r))
			}
		}
		return nil
	}
	add := func(name string, from, to any) {
		if !equalJSON(from, to) {
			list = append(list, api.SettingDiff{Name: fmt.Sprintf("Rules[%q]", name), From: from, To: to})
		}
	}
	for _, r := range next {
		add(r.Name, find(old, r.Name), filterAndAction(h.server.WriteRule(r)))
	}
	for _, r := range old {
		if find(next, r.Name) == nil {
			add(r.Name, filterAndAction(h.server.WriteRule(r)), nil)
		}
	}
	return list
}

func equalJSON(x, y any) bool {
	a, errA := json.Marshal(x)
	b, errB := json.Marshal(y)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

// withoutKeys returns policies with their names and rights.
func withoutKeys(policies any) any {
	var list []struct {
		KeyName string
		Rights  []string
	}
	text, err := json.Marshal(policies)
	if err != nil || json.Unmarshal(text, &list) != nil {
		return nil
	}
	return list
}
