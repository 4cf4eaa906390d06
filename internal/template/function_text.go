package template

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"minibus/internal/jsontree"
	"minibus/internal/printable"
)

// clip shortens a user's text for a message.
func clip(s string) string { return printable.Clip(s, 60) }

// quote returns a user's text in quotes, for a message.
func quote(s string) string { return strconv.Quote(clip(s)) }

// joinedTexts joins texts, unless that becomes too large.
func joinedTexts(parts []string, separator string) *Node {
	length := len(separator) * len(parts)
	for _, part := range parts {
		length += len(part)
	}
	if length > 2*maxText {
		return Unknown(tooLarge)
	}
	return Composed(strings.Join(parts, separator))
}

// onText returns a function of one text.
func onText(change func(string) string) func([]*Node) *Node {
	return func(args []*Node) *Node {
		if len(args) != 1 || args[0].Kind != jsontree.String {
			return nil
		}
		return Composed(change(args[0].Text))
	}
}

// formatted is format(): {0} stands for the first argument behind the text, {{ for a brace.
func formatted(args []*Node) *Node {
	if len(args) == 0 || args[0].Kind != jsontree.String {
		return nil
	}
	var b strings.Builder
	for form := args[0].Text; form != ""; {
		switch {
		case strings.HasPrefix(form, "{{"), strings.HasPrefix(form, "}}"):
			b.WriteByte(form[0])
			form = form[2:]
		case form[0] == '{':
			place, rest, _ := strings.Cut(form[1:], "}")
			number, style, _ := strings.Cut(place, ":")
			i, err := strconv.Atoi(number)
			if err != nil || i < 0 || i+1 >= len(args) {
				return Unknown(badFormat(place))
			}
			text, ok := styled(args[i+1], style)
			if !ok {
				return Unknown(badFormat(place))
			}
			if b.Len()+len(text) > 2*maxText {
				return Unknown(tooLarge)
			}
			b.WriteString(text)
			form = rest
		default:
			b.WriteByte(form[0])
			form = form[1:]
		}
	}
	return Composed(b.String())
}

func badFormat(place string) string {
	return "format() has " + quote("{"+place+"}") + ", which is not known here"
}

// styled returns a value as format() writes it: D4 is a number with four digits, X one in hexadecimal.
func styled(n *Node, style string) (text string, ok bool) {
	if style == "" {
		return TextOf(n), true
	}
	number, whole := jsontree.Whole(n)
	digits, err := strconv.Atoi("0" + style[1:])
	if !whole || err != nil || digits > 99 {
		return "", false
	}
	switch style[0] {
	case 'D', 'd':
		if number < 0 {
			digits++
		}
		return fmt.Sprintf("%0*d", digits, number), true
	case 'X':
		return fmt.Sprintf("%0*X", digits, uint64(number)), true
	case 'x':
		return fmt.Sprintf("%0*x", digits, uint64(number)), true
	}
	return "", false
}

// found is a function that looks for a text in another, in upper and lower case.
func found(index func(text, part string) int) func([]*Node) *Node {
	return func(args []*Node) *Node {
		if len(args) != 2 || args[0].Kind != jsontree.String || args[1].Kind != jsontree.String {
			return nil
		}
		text := strings.ToLower(args[0].Text)
		at := index(text, strings.ToLower(args[1].Text))
		if at > 0 {
			at = utf8.RuneCountInString(text[:at])
		}
		return numberValue(int64(at))
	}
}

func padLeft(args []*Node) *Node {
	if len(args) < 2 || args[0].Kind > jsontree.String {
		return nil
	}
	text, with := TextOf(args[0]), " "
	if len(args) > 2 {
		with = TextOf(args[2])
	}
	length, ok := jsontree.Whole(args[1])
	if !ok || length < 0 || length > maxText || utf8.RuneCountInString(with) != 1 {
		return nil
	}
	return textValue(strings.Repeat(with, max(0, int(length)-utf8.RuneCountInString(text))) + text)
}

func substring(args []*Node) *Node {
	if len(args) < 2 || args[0].Kind != jsontree.String {
		return nil
	}
	text := []rune(args[0].Text)
	from, ok := jsontree.Whole(args[1])
	count := int64(len(text)) - from
	if len(args) > 2 {
		count, _ = jsontree.Whole(args[2])
	}
	if !ok || from < 0 || count < 0 || from > int64(len(text)) || count > int64(len(text))-from {
		return nil
	}
	return textValue(string(text[from : from+count]))
}

// indexFromEnd returns the last item of an array, or one before: the last is 1.
func indexFromEnd(args []*Node) *Node {
	if len(args) != 2 || args[0].Kind != jsontree.Array {
		return nil
	}
	n, ok := jsontree.Whole(args[1])
	if !ok || n < 1 || n > int64(len(args[0].Items)) {
		return nil
	}
	return args[0].Items[int64(len(args[0].Items))-n]
}

// decoded returns the text in one of base64.
func decoded(args []*Node) (text string, ok bool) {
	if len(args) != 1 || args[0].Kind != jsontree.String {
		return "", false
	}
	b, err := base64.StdEncoding.DecodeString(args[0].Text)
	return string(b), err == nil && utf8.Valid(b)
}
