package cli

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
)

// configDiff is what a configuration changes, as the control API shows it.
type configDiff struct {
	Same    bool   `json:"same"`
	Applied bool   `json:"applied"`
	Refused string `json:"refused,omitempty"`
	Summary struct {
		Create int `json:"create"`
		Change int `json:"change"`
		Delete int `json:"delete"`
		Keep   int `json:"keep"`
		Leave  int `json:"leave"`
		Refuse int `json:"refuse"`
	} `json:"summary"`
	Notes    []string     `json:"notes"`
	Entities []entityDiff `json:"entities"`
}

// entityDiff is what it changes of an entity.
type entityDiff struct {
	Path     string        `json:"path"`
	Kind     string        `json:"kind"`
	Action   string        `json:"action"`
	Why      string        `json:"why,omitempty"`
	Settings []settingDiff `json:"settings,omitempty"`
}

// settingDiff is a setting that differs.
type settingDiff struct {
	Name  string          `json:"name"`
	From  json.RawMessage `json:"from,omitempty"`
	To    json.RawMessage `json:"to,omitempty"`
	Fixed bool            `json:"fixed,omitempty"`
}

// marks are what stands in front of an entity.
var marks = map[string]string{"create": "+", "change": "~", "delete": "-", "refuse": "!"}

// lines returns the diff for people. Entities to which nothing is done are left out.
func (d *configDiff) lines() (lines []string) {
	for _, e := range d.Entities {
		mark := marks[e.Action]
		if mark == "" {
			continue
		}
		lines = append(lines, mark+" "+e.Kind+" "+e.Path)
		if e.Why != "" && len(e.Settings) == 0 {
			lines = append(lines, "    "+e.Why)
		}
		for _, s := range e.Settings {
			line := "    " + s.Name + ": " + shownJSON(s.From) + " -> " + shownJSON(s.To)
			if s.Fixed {
				line += "  (fixed: delete the " + e.Kind + " first)"
			}
			lines = append(lines, line)
		}
	}
	return lines
}

func shownJSON(value json.RawMessage) string {
	if len(value) == 0 {
		return "none"
	}
	return string(value)
}

// sendConfig sends the text of a file to an operation of the control API that answers with a diff.
func (a *app) sendConfig(ctx context.Context, file string, text []byte, operation string, prune bool) (d configDiff, err error) {
	path := thisNamespace + "/" + operation
	if prune {
		path += "?prune=true"
	}
	err = a.control(ctx, http.MethodPost, path, rawText(text), &d)
	if f := (*failure)(nil); errors.As(err, &f) {
		err = failed(f.code, "%s", strings.ReplaceAll(f.text, "body:", file+":"))
	}
	return d, err
}

// rawText is a body that is sent as it is.
type rawText []byte
