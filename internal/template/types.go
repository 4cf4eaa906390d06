package template

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"minibus/internal/jsontree"
)

// maxReferences bounds definitions that lead to other definitions.
const maxReferences = 32

// definition returns a type with what its $ref adds. The nearer definition comes first.
func (t *Template) definition(d *Node) (chain []*Node, wrong string) {
	for {
		chain = append(chain, d)
		ref := d.Get("$ref")
		if ref == nil {
			return chain, ""
		}
		name, ok := strings.CutPrefix(ref.Text, "#/definitions/")
		next := t.root.Get("definitions").Get(strings.NewReplacer("~1", "/", "~0", "~").Replace(name))
		if !ok || next == nil || len(chain) > maxReferences {
			return chain, "there is no type " + quote(ref.Text)
		}
		d = next
	}
}

// first returns the value that the nearest definition of a chain has for a key; nil if none has one.
func first(chain []*Node, key string) *Node {
	for _, d := range chain {
		if v := d.Get(key); v != nil {
			return v
		}
	}
	return nil
}

func (t *Template) nullable(d *Node) bool {
	chain, _ := t.definition(d)
	n := first(chain, "nullable")
	return n != nil && n.Bool
}

// Secure reports whether a definition of a parameter or an output is of a secure type, or has one in it.
func (t *Template) Secure(d *Node) bool { return t.secureIn(d, make(map[*Node]bool)) }

func (t *Template) secureIn(d *Node, seen map[*Node]bool) bool {
	if d == nil || seen[d] {
		return false
	}
	seen[d] = true
	chain, _ := t.definition(d)
	if isSecure(chain) {
		return true
	}
	in := []*Node{first(chain, "items"), first(chain, "additionalProperties")}
	if prefix := first(chain, "prefixItems"); prefix != nil {
		in = append(in, prefix.Items...)
	}
	for _, list := range []*Node{first(chain, "properties"), first(chain, "discriminator").Get("mapping")} {
		if list != nil {
			for _, m := range list.Members {
				in = append(in, m.Value)
			}
		}
	}
	return slices.ContainsFunc(in, func(d *Node) bool { return t.secureIn(d, seen) })
}

func isSecure(chain []*Node) bool {
	n := first(chain, "type")
	return n != nil && strings.HasPrefix(strings.ToLower(n.Text), "secure")
}

// Secrets calls keep with the values of secure types that are in a value.
func (t *Template) Secrets(v, d *Node, keep func(*Node)) { t.secrets(v, d, keep, 0) }

func (t *Template) secrets(v, d *Node, keep func(*Node), depth int) {
	if d == nil || d.Kind != jsontree.Object || depth > maxDepth || !t.budget.Spend(1) {
		return
	}
	chain, _ := t.definition(d)
	if isSecure(chain) {
		keep(v)
		return
	}
	prefix, items := first(chain, "prefixItems"), first(chain, "items")
	for i, item := range v.Items {
		d := items
		if prefix != nil && i < len(prefix.Items) {
			d = prefix.Items[i]
		}
		t.secrets(item, d, keep, depth+1)
	}
	properties, others := first(chain, "properties"), first(chain, "additionalProperties")
	for _, m := range v.Members {
		d := properties.Member(m.Key)
		if d == nil {
			d = others
		}
		t.secrets(m.Value, d, keep, depth+1)
	}
	choice := first(chain, "discriminator")
	if key := choice.Get("propertyName"); key != nil {
		if kind := v.Member(key.Text); kind != nil {
			t.secrets(v, choice.Get("mapping").Get(kind.Text), keep, depth+1)
		}
	}
}

// TypeOf returns the type of a parameter or an output as Azure writes it, such as SecureString.
func (t *Template) TypeOf(d *Node) string {
	chain, _ := t.definition(d)
	n := first(chain, "type")
	if n == nil {
		return ""
	}
	for _, name := range []string{"String", "SecureString", "Int", "Bool", "Object", "SecureObject", "Array"} {
		if strings.EqualFold(n.Text, name) {
			return name
		}
	}
	return n.Text
}

// typeKinds are the kinds of the types.
var typeKinds = map[string]jsontree.Kind{"string": jsontree.String, "securestring": jsontree.String,
	"int": jsontree.Number, "bool": jsontree.Bool, "object": jsontree.Object, "secureobject": jsontree.Object,
	"array": jsontree.Array}

// kindNames are the names of the types for messages, as Azure has them.
var kindNames = map[jsontree.Kind]string{jsontree.Null: "Null", jsontree.Bool: "Boolean", jsontree.Number: "Integer",
	jsontree.String: "String", jsontree.Array: "Array", jsontree.Object: "Object"}

// mismatch says why a value is not what a definition wants. name is that of the parameter or a path in it. What is
// unknown fits.
func (t *Template) mismatch(v, d *Node, name string, depth int) string {
	if v.Unknown != "" || depth > maxDepth {
		return ""
	}
	chain, wrong := t.definition(d)
	if wrong != "" {
		return wrong
	}
	if v.Kind == jsontree.Null {
		if n := first(chain, "nullable"); n != nil && n.Bool {
			return ""
		}
	}
	invalid := "The provided value for the template parameter '" + name + "' is not valid. "
	if n := first(chain, "type"); n != nil {
		kind, known := typeKinds[strings.ToLower(n.Text)]
		if !known {
			return "there is no type " + quote(n.Text)
		}
		if v.Kind != kind {
			return fmt.Sprintf("%sExpected a value of type '%s', but received a value of type '%s'.", invalid,
				kindNames[kind], kindNames[v.Kind])
		}
		if _, whole := jsontree.Whole(v); kind == jsontree.Number && !whole {
			return invalid + "Expected a value of type 'Integer', but received a value of type 'Float'."
		}
	}
	if wrong := t.allowed(v, chain, invalid, isSecure(chain)); wrong != "" {
		return wrong
	}
	switch v.Kind {
	case jsontree.Array:
		return t.mismatchedItems(v, chain, name, depth)
	case jsontree.Object:
		return t.mismatchedMembers(v, chain, name, depth)
	}
	return ""
}

// allowed checks a value against the allowed ones, and against ranges.
func (t *Template) allowed(v *Node, chain []*Node, invalid string, secret bool) string {
	if list := first(chain, "allowedValues"); list != nil {
		in := func(v *Node) bool {
			return slices.ContainsFunc(list.Items, func(x *Node) bool { return t.sameOption(x, v) })
		}
		every := v.Kind == jsontree.Array && !slices.ContainsFunc(v.Items, func(x *Node) bool { return !in(x) })
		if !in(v) && !every {
			if secret {
				return invalid + "The value is not part of the allowed value(s)."
			}
			var texts []string
			for _, x := range list.Items {
				texts = append(texts, TextOf(x))
			}
			found := ""
			if v.Kind < jsontree.Array {
				found = " '" + clip(TextOf(v)) + "'"
			}
			return fmt.Sprintf("%sThe value%s is not part of the allowed value(s): '%s'.", invalid, found,
				clip(strings.Join(texts, ",")))
		}
	}
	number, _ := jsontree.Whole(v)
	length := int64(utf8.RuneCountInString(v.Text))
	isList := v.Kind == jsontree.Array
	if isList {
		length = int64(len(v.Items))
	}
	for _, x := range []struct {
		key, what, than string
		n               int64
		sign            int64
		of              bool
	}{
		{"minValue", "The value", "greater", number, 1, v.Kind == jsontree.Number},
		{"maxValue", "The value", "less", number, -1, v.Kind == jsontree.Number},
		{"minLength", "Length of the value", "greater", length, 1, isList || v.Kind == jsontree.String},
		{"maxLength", "Length of the value", "less", length, -1, isList || v.Kind == jsontree.String},
	} {
		bound := first(chain, x.key)
		if bound == nil || !x.of {
			continue
		}
		if limit, ok := jsontree.Whole(bound); ok && (x.n-limit)*x.sign < 0 {
			return fmt.Sprintf("%s%s should be %s than or equal to '%d'.", invalid, x.what, x.than, limit)
		}
	}
	return ""
}

// sameOption compares a value with one that is allowed. Texts are compared without case, as Azure does.
func (t *Template) sameOption(a, b *Node) bool {
	if a.Kind == jsontree.String && b.Kind == jsontree.String && t.budget.Spend(1+len(b.Text)/64) {
		return strings.EqualFold(a.Text, b.Text)
	}
	return t.budget.equal(a, b)
}

func (t *Template) mismatchedItems(v *Node, chain []*Node, name string, depth int) string {
	prefix, items := first(chain, "prefixItems"), first(chain, "items")
	for i, item := range v.Items {
		d := items
		if prefix != nil && i < len(prefix.Items) {
			d = prefix.Items[i]
		}
		if d == nil || d.Kind != jsontree.Object {
			continue
		}
		if wrong := t.mismatch(item, d, name+"["+strconv.Itoa(i)+"]", depth+1); wrong != "" {
			return wrong
		}
	}
	return ""
}

func (t *Template) mismatchedMembers(v *Node, chain []*Node, name string, depth int) string {
	properties, others := first(chain, "properties"), first(chain, "additionalProperties")
	for _, m := range v.Members {
		d := properties.Member(m.Key)
		if d == nil {
			d = others
		}
		switch {
		case d == nil:
		case d.Kind == jsontree.Bool && !d.Bool:
			return fmt.Sprintf("The provided value for the template parameter '%s' is not valid. "+
				"It has the property '%s', which its type lacks.", name, clip(m.Key))
		case d.Kind == jsontree.Object:
			if wrong := t.mismatch(m.Value, d, name+"."+m.Key, depth+1); wrong != "" {
				return wrong
			}
		}
	}
	if properties != nil {
		for _, p := range properties.Members {
			if v.Member(p.Key) == nil && !t.nullable(p.Value) {
				return fmt.Sprintf("The provided value for the template parameter '%s' is not valid. "+
					"It lacks the property '%s'.", name, clip(p.Key))
			}
		}
	}
	choice := first(chain, "discriminator")
	if key := choice.Get("propertyName"); key != nil {
		kind := v.Member(key.Text)
		if kind == nil || kind.Kind != jsontree.String || kind.Unknown != "" {
			return ""
		}
		variant := choice.Get("mapping").Get(kind.Text)
		if variant == nil {
			return fmt.Sprintf("The provided value for the template parameter '%s' is not valid. "+
				"There is no variant '%s' of its type.", name, clip(kind.Text))
		}
		return t.mismatch(v, variant, name, depth+1)
	}
	return ""
}
