package server

import (
	"minibus/config"
	"minibus/emulator"
	"minibus/export"
	"minibus/mgmt/control"
)

// live describes a namespace to the reader of texts in the form of Config.json.
func (a *Server) live(ns *emulator.Namespace) config.Live {
	return config.Live{Name: ns.Name(), IsDefault: ns == a.broker.Default(), Profile: ns.Profile(),
		Elsewhere: a.namedBy, Target: func(path string) string {
			e, err := ns.Entity(path)
			if err != nil || e.Kind() == emulator.KindSubscription {
				return ""
			}
			return e.Path()
		}}
}

// findings returns what is wrong in a text, a line for each finding. Warnings go to the log.
func (a *Server) findings(report *config.Report) (wrong []string) {
	for _, f := range report.Findings {
		switch f.Severity {
		case config.Error:
			wrong = append(wrong, f.String())
		case config.Warning:
			a.log.Warn("a request may not mean what it says", "found", f.String())
		}
	}
	if more := report.Count(config.Error) - len(wrong); more > 0 {
		wrong = append(wrong, "and "+config.Plural(more, "more error"))
	}
	return wrong
}

// ReadEntity implements [control.ConfigTexts].
func (a *Server) ReadEntity(ns *emulator.Namespace, from string, text []byte, kind emulator.EntityKind,
	path string) (emulator.Settings, []string) {
	s, report := a.live(ns).ParseEntity(from, text, kind, path)
	return s, a.findings(report)
}

// ReadChange implements [control.ConfigTexts].
func (a *Server) ReadChange(ns *emulator.Namespace, from string, text []byte, path string,
	old emulator.Settings) (emulator.Settings, []string) {
	s, report := a.live(ns).PatchEntity(from, text, path, old)
	return s, a.findings(report)
}

// ReadRule implements [control.ConfigTexts].
func (a *Server) ReadRule(ns *emulator.Namespace, from string, text []byte,
	name string, ofClients bool) (emulator.RuleOptions, []string) {
	r, report := a.live(ns).ParseRule(from, text, name, ofClients)
	return r, a.findings(report)
}

// ReadConfiguration implements [control.Configurations].
func (a *Server) ReadConfiguration(ns *emulator.Namespace, from string,
	text []byte) (list []emulator.EntityConfig, notes, wrong []string) {
	t, report := a.live(ns).ParseConfiguration(from, text)
	if wrong = a.findings(report); t == nil || len(wrong) > 0 {
		return nil, nil, wrong
	}
	for _, f := range report.Findings {
		if f.Severity == config.Warning {
			notes = append(notes, f.String())
		}
	}
	return t.Entities, append(notes, config.OnlyAtTheStart(t)...), nil
}

// WriteConfiguration implements [control.Configurations].
func (a *Server) WriteConfiguration(ns *emulator.Namespace, keys bool) ([]byte, error) {
	o := ns.Options()
	t := &config.Topology{Namespace: ns.Name(), Entities: ns.Configuration().Current(), Aliases: o.Aliases,
		Port: o.Port, AuthorizationRules: o.Policies}
	if ns == a.broker.Default() && len(o.Policies) == 0 { // Resource Manager has changed none
		t.AuthorizationRules = a.config.Topology.AuthorizationRules
	}
	return config.Write([]*config.Topology{t}, ns.Profile(), keys)
}

// ExportConfiguration implements [control.Configurations].
func (a *Server) ExportConfiguration(ns *emulator.Namespace, format string, whole bool) ([]byte, error) {
	found, err := export.Of(ns.Name(), ns.Profile(), ns.Configuration().Current())
	if err == nil && whole {
		found.Resource, err = a.exported(ns)
	}
	if err != nil {
		return nil, err
	}
	text, _, err := export.Write(found, export.Format(format)) // its warnings are comments in the text
	return text, err
}

// WriteSettings implements [control.ConfigTexts].
func (a *Server) WriteSettings(ns *emulator.Namespace, s emulator.Settings, keys bool) []control.Setting {
	return settingsOf(config.SettingsProperties(s, ns.Profile(), keys))
}

// WriteRule implements [control.ConfigTexts].
func (a *Server) WriteRule(r emulator.RuleOptions) []control.Setting {
	return settingsOf(config.RuleProperties(r))
}

func settingsOf(p config.Properties) []control.Setting {
	list := make([]control.Setting, len(p))
	for i, x := range p {
		list[i] = control.Setting{Name: x.Name, Value: x.Value}
	}
	return list
}
