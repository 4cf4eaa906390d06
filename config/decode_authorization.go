package config

import (
	"fmt"
	"strings"

	"minibus/emulator"
)

// The keys of an authorization rule, and others that exports of live entities have.
var (
	authorizationKeys      = []string{"KeyName", "PrimaryKey", "SecondaryKey", "Rights"}
	authorizationInertKeys = []string{"ClaimType", "ClaimValue", "CreatedTime", "ModifiedTime"}
)

// authorizationRules decodes the shared access policies of a namespace or an entity. Messages never show a key.
// seen are the names in use.
func (d *decoder) authorizationRules(n *node, seen map[string]*node) []emulator.AuthorizationRule {
	n = d.ourRules(n)
	items := d.array(n)
	d.quota(n, len(items), emulator.MaxAuthorizationRules, "authorization rules")
	if n == nil || n.Kind != kindArray {
		return nil
	}
	rules := []emulator.AuthorizationRule{} // an empty list revokes the broker's rules; nil keeps them
	for _, item := range items {
		if !d.object(item) {
			continue
		}
		d.keys(item, authorizationKeys, authorizationInertKeys...)
		r := emulator.AuthorizationRule{KeyName: d.keyName(item, seen), Rights: d.rights(item)}
		r.PrimaryKey = d.secret(r.KeyName, item.Get("PrimaryKey"))
		r.SecondaryKey = d.secret(r.KeyName, item.Get("SecondaryKey"))
		if item.Get("PrimaryKey") == nil {
			const fix = "give it a key, such as what openssl rand -base64 32 prints"
			d.fail(item, "found no PrimaryKey", "text in double quotes", fix)
		}
		rules = append(rules, r)
	}
	return rules
}

func (d *decoder) keyName(item *node, seen map[string]*node) string {
	at := item.Get("KeyName")
	name := strings.TrimSpace(d.text(at, ""))
	switch {
	case at == nil:
		d.fail(item, "found no KeyName", "text in double quotes", "give it a KeyName")
	case at.Kind != kindString: // already reported
	case name == "" || len(name) > emulator.MaxKeyName:
		allowed := fmt.Sprintf("1 to %d characters", emulator.MaxKeyName)
		d.fail(at, fmt.Sprintf("found a name of %d characters", len(name)), allowed, "")
	default:
		if err := emulator.CheckKeyName(name); err != nil {
			d.fail(at, err.Error(), "", "")
		}
		d.unique(seen, name, at, "authorization rule")
	}
	return name
}

// secret reads a key of a rule. Its errors don't show the key.
func (d *decoder) secret(rule string, n *node) string {
	switch {
	case n == nil:
		return ""
	case n.Kind != kindString:
		d.fail(n, "found something else than text", "text in double quotes", "")
		return ""
	case strings.TrimSpace(n.Text) == "":
		d.fail(n, "found an empty key", "a key, or no such line", "")
	default:
		if err := emulator.CheckKey(rule, n.Text); err != nil {
			d.fail(n, err.Error(), "", "")
		}
	}
	return n.Text
}

// rights reads the rights; as in the cloud, Manage needs Send and Listen.
func (d *decoder) rights(item *node) []string {
	all := []string{"Manage", "Send", "Listen"}
	at := item.Get("Rights")
	if at == nil {
		d.fail(item, "found no Rights", "an array of "+strings.Join(all, ", "), `write "Rights": ["Send"]`)
		return nil
	}
	var rights []string
	for _, n := range d.array(at) {
		if right := known(all, d.text(n, "")); right != "" {
			rights = append(rights, right)
		} else if n.Kind == kindString {
			d.fail(n, "found "+n.Describe(), strings.Join(all, ", "), "")
		}
	}
	switch {
	case at.Kind == kindArray && len(at.Items) == 0:
		d.fail(at, "found no right", "at least one of "+strings.Join(all, ", "), "")
	case containsFold(rights, "Manage") && (!containsFold(rights, "Send") || !containsFold(rights, "Listen")):
		d.fail(at, "found Manage without Send and Listen", "", "add them, Manage includes both")
	}
	return rights
}

// known returns a word in the spelling of the list, or "".
func known(list []string, word string) string {
	for _, k := range list {
		if strings.EqualFold(k, word) {
			return k
		}
	}
	return ""
}
