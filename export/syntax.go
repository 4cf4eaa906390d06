package export

import (
	"fmt"
	"strings"
	"unicode"
)

// attr is a property of a resource. Its value is a string, a bool, an int, an int64, an [expression], an [object], a
// [block] or a list of values.
type attr struct {
	name  string
	value any
}

type (
	expression string // written as it is: a reference
	object     []attr // a map
	block      []attr // HCL only: a nested block
)

// optional adds a text unless it is empty.
func optional(list []attr, name, value string) []attr {
	if value == "" {
		return list
	}
	return append(list, attr{name, value})
}

// bicepValue renders a value. Its first line follows the name of the property.
func bicepValue(v any, indent string) string {
	switch v := v.(type) {
	case string:
		return bicepString(v)
	case object:
		return "{\n" + bicepBody(v, indent+"  ") + indent + "}"
	case []any:
		var b strings.Builder
		b.WriteString("[\n")
		for _, x := range v {
			b.WriteString(indent + "  " + bicepValue(x, indent+"  ") + "\n")
		}
		return b.String() + indent + "]"
	}
	return fmt.Sprint(v)
}

func bicepBody(list []attr, indent string) string {
	var b strings.Builder
	for _, a := range list {
		b.WriteString(indent + bicepKey(a.name) + ": " + bicepValue(a.value, indent) + "\n")
	}
	return b.String()
}

// bicepKey quotes a name that is not an identifier.
func bicepKey(name string) string {
	for i, r := range name {
		if r > unicode.MaxASCII || !unicode.IsLetter(r) && r != '_' && (i == 0 || !unicode.IsDigit(r)) {
			return bicepString(name)
		}
	}
	if name == "" {
		return bicepString(name)
	}
	return name
}

// bicepString quotes a text. In Bicep ${ begins an expression.
func bicepString(s string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for _, r := range strings.ReplaceAll(s, "${", "\x00") {
		switch {
		case r == 0:
			b.WriteString(`\${`)
		case r == '\'' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case !unicode.IsPrint(r):
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('\'')
	return b.String()
}

// hclBody renders attributes as terraform fmt does. It aligns the equals signs of neighbouring lines, and puts an
// empty line around a value of several lines.
func hclBody(list []attr, indent string) string {
	var b strings.Builder
	for i := 0; i < len(list); {
		if several(list[i].value) {
			if i > 0 {
				b.WriteString("\n")
			}
			b.WriteString(indent + hclSeveral(list[i], indent) + "\n")
			i++
			continue
		}
		if i > 0 {
			b.WriteString("\n")
		}
		end, width := i, 0
		for end < len(list) && !several(list[end].value) {
			width = max(width, len([]rune(list[end].name)))
			end++
		}
		for ; i < end; i++ {
			fmt.Fprintf(&b, "%s%-*s = %s\n", indent, width, list[i].name, hclValue(list[i].value))
		}
	}
	return b.String()
}

func several(v any) bool {
	switch v.(type) {
	case object, block:
		return true
	}
	return false
}

func hclSeveral(a attr, indent string) string {
	if o, ok := a.value.(object); ok {
		quoted := make([]attr, len(o))
		for i, x := range o {
			quoted[i] = attr{hclString(x.name), x.value}
		}
		return a.name + " = {\n" + hclBody(quoted, indent+"  ") + indent + "}"
	}
	return a.name + " {\n" + hclBody(a.value.(block), indent+"  ") + indent + "}"
}

func hclValue(v any) string {
	switch v := v.(type) {
	case string:
		return hclString(v)
	case []any:
		all := make([]string, len(v))
		for i, x := range v {
			all[i] = hclValue(x)
		}
		return "[" + strings.Join(all, ", ") + "]"
	}
	return fmt.Sprint(v)
}

// hclString quotes a text. In HCL ${ and %{ begin templates unless their first character is doubled.
func hclString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	runes := []rune(s)
	for i, r := range runes {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case (r == '$' || r == '%') && i+1 < len(runes) && runes[i+1] == '{':
			b.WriteString(string([]rune{r, r}))
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case !unicode.IsPrint(r) && r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		case !unicode.IsPrint(r):
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// comments renders the comment above a resource.
func comments(mark string, lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(mark + " " + oneLine(line) + "\n")
	}
	return b.String()
}
