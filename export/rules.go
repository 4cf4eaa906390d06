package export

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"

	"minibus/emulator"
	"minibus/mgmt/atom"
)

// maxExpression is the length of the longest expression, in characters as .NET counts them (QUO-10).
var maxExpression = emulator.ProfileStandard.Limits().Expression

// plainRule is a rule without parameters and without the types that Azure's templates do not have.
type plainRule struct {
	Name   string
	Filter atom.Filter
	Action string
	Notes  []string // what is different from the rule as it was
}

// plain writes parameters into the texts, since Azure's templates have none. A correlation filter on numbers or truth
// values, or without a condition, becomes the same in SQL. A rule that can't be expressed selects nothing.
func plain(r atom.Rule) plainRule {
	p := plainRule{Name: r.Name, Filter: atom.Filter{Kind: r.Filter.Kind, SQL: r.Filter.SQL}}
	ok := true
	switch {
	case r.Filter.Kind == atom.CorrelationFilter:
		ok = p.correlate(r.Filter)
	case r.Filter.Kind == atom.SQLFilter:
		p.Filter.SQL, ok = inline(r.Filter.SQL, r.Filter.Parameters)
	}
	var said bool
	p.Action, said = inline(r.Action.SQL, r.Action.Parameters)
	if !ok || !said {
		p.Filter, p.Action = atom.Filter{Kind: atom.FalseFilter, SQL: emulator.FalseExpression}, ""
		p.Notes = append(p.Notes, "the rule has a value that can't be written down here, it is exported as one that "+
			"takes nothing")
	} else if len(r.Filter.Parameters)+len(r.Action.Parameters) > 0 {
		p.Notes = append(p.Notes, "the parameters are written into the expression")
	}
	return p
}

// correlate fills in a correlation filter.
func (p *plainRule) correlate(f atom.Filter) bool {
	p.Filter.Correlation, p.Filter.Properties = f.Correlation, f.Properties
	texts := true
	for _, x := range f.Properties {
		if _, ok := literal(x.Value); !ok {
			return false
		}
		_, isText := x.Value.(string)
		texts = texts && isText
	}
	none := len(f.Correlation)+len(f.Properties) == 0
	if texts && !none {
		return true
	}
	why := "its values are not all text"
	sql, ok := conditions(f)
	if none {
		sql, why = emulator.TrueExpression, "it has no condition, which selects everything"
	}
	p.Filter = atom.Filter{Kind: atom.SQLFilter, SQL: sql}
	p.Notes = append(p.Notes, "the correlation filter is exported as SQL, because "+why)
	return ok
}

// conditions returns a correlation filter in SQL (TOP-9).
func conditions(f atom.Filter) (string, bool) {
	var all []string
	for _, t := range f.Correlation {
		text, _ := literal(t.Value)
		all = append(all, "sys."+t.Property+" = "+text)
	}
	for _, x := range f.Properties {
		text, _ := literal(x.Value)
		all = append(all, "["+strings.ReplaceAll(x.Key, "]", "]]")+"] = "+text)
	}
	sql := strings.Join(all, " AND ")
	return sql, fits(sql)
}

func fits(sql string) bool { return len(utf16.Encode([]rune(sql))) <= maxExpression }

// inline replaces the parameters of an SQL text by their values. Texts and delimited names are left alone.
func inline(sql string, parameters []atom.Parameter) (string, bool) {
	if len(parameters) == 0 {
		return sql, true
	}
	values := make(map[string]any, len(parameters))
	for _, x := range parameters {
		values[strings.ToLower(strings.TrimPrefix(x.Key, "@"))] = x.Value
	}
	var b strings.Builder
	text := []rune(sql)
	for i := 0; i < len(text); {
		end := i + 1
		switch text[i] {
		case '\'', '"':
			end = after(text, end, text[i])
		case '[':
			end = after(text, end, ']')
		case '@':
			for end < len(text) && (unicode.IsLetter(text[end]) || unicode.IsDigit(text[end]) || text[end] == '_') {
				end++
			}
			value, known := values[strings.ToLower(string(text[i+1:end]))]
			said, ok := literal(value)
			if !known || !ok {
				return "", false
			}
			b.WriteString(said)
			i = end
			continue
		}
		b.WriteString(string(text[i:end]))
		i = end
	}
	return b.String(), fits(b.String())
}

// after returns the place behind the closing character; a doubled one stands for itself and closes nothing.
func after(text []rune, from int, closing rune) int {
	for i := from; i < len(text); i++ {
		if text[i] != closing {
			continue
		}
		if i+1 == len(text) || text[i+1] != closing {
			return i + 1
		}
		i++
	}
	return len(text)
}

// literal writes a value as a constant of SQL. Times and durations have none.
func literal(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return "'" + strings.ReplaceAll(v, "'", "''") + "'", true
	case bool:
		return strings.ToUpper(strconv.FormatBool(v)), true
	case int8, int16, int32, uint8, uint16, uint32:
		return signed(fmt.Sprint(v)), true
	case int64:
		return signed(strconv.FormatInt(v, 10)), v != math.MinInt64 // its magnitude is no constant
	case uint64:
		return strconv.FormatUint(v, 10), v <= math.MaxInt64
	case float32:
		return literal(float64(v))
	case float64:
		return signed(decimal(v)), !math.IsInf(v, 0) && !math.IsNaN(v)
	}
	return "", false
}

// signed puts a negative number in parentheses, since a minus may stand before it.
func signed(s string) string {
	if strings.HasPrefix(s, "-") {
		return "(" + s + ")"
	}
	return s
}

// decimal returns the text of a double, with a point or an exponent, which a constant needs to be a double.
func decimal(v float64) string {
	s := strings.Replace(strconv.FormatFloat(v, 'G', -1, 64), "E+", "E", 1)
	if !strings.ContainsAny(s, ".E") {
		s += ".0"
	}
	return s
}
