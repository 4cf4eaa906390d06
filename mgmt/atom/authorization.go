package atom

import (
	"cmp"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"minibus/emulator"
)

// keyBytes is the length of a generated key, as in the service; in base64 it has 44 characters.
const keyBytes = 32

// authorizationRules reads the rules; given is false without the element.
func (f *fields) authorizationRules() (rules []emulator.AuthorizationRule, given bool) {
	list := f.d.Child("AuthorizationRules")
	if list == nil || list.isNil() {
		return nil, false
	}
	names := map[string]bool{}
	for _, e := range list.Children {
		if e.Name != "AuthorizationRule" {
			continue
		}
		r := f.authorizationRule(e)
		key := strings.ToLower(r.KeyName)
		if names[key] {
			f.refuse("There is more than one authorization rule of that name.", "KeyName", clip(r.KeyName))
		}
		names[key] = true
		rules = append(rules, r)
		if len(rules) > emulator.MaxAuthorizationRules {
			f.refuse(fmt.Sprintf("There are more than %d authorization rules. ", emulator.MaxAuthorizationRules),
				"", "")
			return nil, true
		}
	}
	return rules, true
}

func (f *fields) authorizationRule(e *Element) emulator.AuthorizationRule {
	r := emulator.AuthorizationRule{
		KeyName:      e.Child("KeyName").Text(),
		ClaimType:    e.Child("ClaimType").Text(),
		ClaimValue:   e.Child("ClaimValue").Text(),
		PrimaryKey:   e.Child("PrimaryKey").Text(),
		SecondaryKey: e.Child("SecondaryKey").Text(),
		Created:      f.instant(e, "CreatedTime"),
		Modified:     f.instant(e, "ModifiedTime"),
	}
	if rights := e.Child("Rights"); rights != nil {
		for _, c := range rights.Children {
			r.Rights = append(r.Rights, f.right(strings.TrimSpace(c.Text())))
		}
	}
	has := func(right string) bool { return slices.Contains(r.Rights, right) }
	switch {
	case r.KeyName == "" || len(r.KeyName) > emulator.MaxKeyName:
		f.refuse(fmt.Sprintf("The name of an authorization rule must have 1 to %d characters.",
			emulator.MaxKeyName), "KeyName", clip(r.KeyName))
	case len(r.Rights) == 0:
		f.refuse("An authorization rule must have at least one right.", "Rights", "")
	case has("Manage") && !(has("Send") && has("Listen")):
		f.refuse("Manage permission should also include Send and Listen.", "Rights", strings.Join(r.Rights, ","))
	}
	return r
}

// right returns a right in the service's spelling.
func (f *fields) right(s string) string {
	for _, known := range []string{"Manage", "Send", "Listen"} {
		if strings.EqualFold(s, known) {
			return known
		}
	}
	f.refuse("A right must be Manage, Send or Listen.", "Rights", clip(s))
	return ""
}

// withKeys fills in the keys that the client left out: those of the old rule of that name, else new ones. Times that
// the broker gave the old rule, and that the client sends back, are not the client's own.
func withKeys(rules, old []emulator.AuthorizationRule) []emulator.AuthorizationRule {
	rules = slices.Clone(rules)
	for i := range rules {
		r, was := &rules[i], emulator.AuthorizationRule{}
		at := slices.IndexFunc(old, func(o emulator.AuthorizationRule) bool {
			return strings.EqualFold(o.KeyName, r.KeyName)
		})
		if at >= 0 {
			was = old[at]
		}
		r.Created, r.Modified = unlessShown(r.Created, was.CreatedAt), unlessShown(r.Modified, was.ModifiedAt)
		r.PrimaryKey, r.SecondaryKey = keyOr(r.PrimaryKey, was.PrimaryKey), keyOr(r.SecondaryKey, was.SecondaryKey)
	}
	return rules
}

// keyOr returns the first of key and old that is not empty, else a new key.
func keyOr(key, old string) string {
	if key = cmp.Or(key, old); key != "" {
		return key
	}
	b := make([]byte, keyBytes)
	_, _ = rand.Read(b) // never fails
	return base64.StdEncoding.EncodeToString(b)
}

// unlessShown returns a time as the client wrote it, or nothing if it is the one that the broker shows, in
// milliseconds.
func unlessShown(text string, shown int64) string {
	if t, err := parseTime(text); err == nil && shown != 0 && t.UnixMilli() == shown {
		return ""
	}
	return text
}

// instant returns when a rule was made or changed, as the client says. The service returns what the client gave.
func (f *fields) instant(e *Element, name string) string {
	s := strings.TrimSpace(e.Child(name).Text())
	if _, err := parseTime(s); s != "" && err != nil {
		f.refuse("The value is not a time.", name, clip(s))
	}
	return s
}

// authorizationRules writes rules (management-rest 4.6). A client that says enrich gets the broker's times where it
// wrote none of its own. Others get none: Go's live tests, which never say it, expect rules back as they were sent.
func (w *writer) authorizationRules(rules []emulator.AuthorizationRule, v View) {
	instant := func(name, own string, ms int64) {
		if own == "" && v.Enriched && ms != 0 {
			own = formatTime(ms)
		}
		w.optional(name, own)
	}
	if len(rules) == 0 {
		w.empty("AuthorizationRules")
		return
	}
	w.open("AuthorizationRules")
	for _, r := range rules {
		w.open("AuthorizationRule", "i:type", "SharedAccessAuthorizationRule")
		w.text("ClaimType", cmp.Or(r.ClaimType, "SharedAccessKey"))
		w.text("ClaimValue", cmp.Or(r.ClaimValue, "None"))
		w.open("Rights")
		for _, right := range r.Rights {
			w.text("AccessRights", right)
		}
		w.close("Rights")
		instant("CreatedTime", r.Created, r.CreatedAt)
		instant("ModifiedTime", r.Modified, r.ModifiedAt)
		w.text("KeyName", r.KeyName)
		w.text("PrimaryKey", r.PrimaryKey)
		w.text("SecondaryKey", r.SecondaryKey)
		w.close("AuthorizationRule")
	}
	w.close("AuthorizationRules")
}
