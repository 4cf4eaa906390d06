package config

import (
	"strconv"
	"strings"

	"minibus/emulator"
	"minibus/internal/printable"
)

// values reads named values: the application properties of a correlation filter, or parameters. Whole numbers become int64, other
// numbers float64. The rule language has more types than JSON, so a value may be an object that names its type.
func (d *decoder) values(n *node) emulator.Values {
	if !d.object(n) {
		return nil
	}
	all := make(emulator.Values, len(n.members))
	for _, m := range n.members {
		switch v := m.value; v.kind {
		case kindString:
			all[m.key] = v.text
		case kindBool:
			all[m.key] = v.boolean
		case kindNumber:
			if i, ok := wholeNumber(v); ok && !strings.ContainsAny(v.text, ".eE") {
				all[m.key] = i
			} else if f, err := strconv.ParseFloat(v.text, 64); err == nil {
				all[m.key] = f
			} else {
				d.fail(v, "found "+v.describe(), "a number that 64 bits can hold", "")
			}
		case kindObject:
			all[m.key] = d.typedValue(v)
		default:
			d.fail(v, "found "+v.describe(), "text, a number, true, false, or "+typedForm, "")
		}
	}
	return all
}

const typedForm = `an object such as {"Type": "dateTime", "Value": "2026-11-22T10:00:00.1234567Z"}`

// typedValue reads an object with a value and its type, which Microsoft's emulator does not know.
func (d *decoder) typedValue(n *node) any {
	d.beyond(n, false)
	d.keys(n, []string{"Type", "Value"})
	name, value := n.get("Type"), n.get("Value")
	if name == nil || value == nil {
		d.fail(n, "found an object without Type or Value", typedForm, "")
		return nil
	}
	t, known := emulator.ValueTypeOf(name.text)
	if name.kind != kindString || !known {
		names, cure := emulator.ValueTypeNames(), ""
		if guess := printable.Closest(name.text, names); guess != "" {
			cure = "did you mean " + guess + "?"
		}
		d.fail(name, "found "+name.describe(), strings.Join(names, ", "), cure)
		return nil
	}
	text := value.text
	if value.kind == kindBool {
		text = strconv.FormatBool(value.boolean)
	}
	v, ok := t.Parse(text)
	if !ok || value.kind == kindArray || value.kind == kindObject {
		d.fail(value, "found "+value.describe(), "a value of the type "+t.Name+", such as "+t.Example, "")
	}
	return v
}

// parameters reads Parameters beside a SqlExpression, which Microsoft's emulator does not know.
func (d *decoder) parameters(n *node) emulator.Values {
	list := n.get("Parameters")
	if list != nil {
		d.beyond(list, false)
	}
	return d.values(list)
}
