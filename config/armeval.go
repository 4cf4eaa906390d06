package config

import (
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
)

// What is only known in Azure stands in a text between two code points that are no characters: why it is not known, in
// hexadecimal digits, which no function for texts changes.
var unknownPart = regexp.MustCompile("\uFFFF([0-9A-Fa-f]*)\uFFFE")

// unknownValue returns a value that is not known, and why.
func unknownValue(why string) *node {
	return &node{kind: kindString, text: "\uFFFF" + hex.EncodeToString([]byte(why)) + "\uFFFE", unknown: why}
}

// unknownIn returns why a part of a text is not known; empty if all of it is.
func unknownIn(text string) string {
	if !strings.ContainsAny(text, "\uFFFF\uFFFE") {
		return ""
	}
	if part := unknownPart.FindStringSubmatch(text); part != nil {
		if why, err := hex.DecodeString(part[1]); err == nil && len(why) > 0 {
			return string(why)
		}
	}
	return "a part of it is only known in Azure"
}

// Bounds of what is evaluated, so that a few lines that double each other take neither the memory nor the time.
const (
	maxARMWeight  = 50_000
	maxARMText    = 1 << 20
	maxARMWork    = 2_000_000
	maxARMMembers = 1_000 // of what is compared with each other
)

// weigh returns n, or an unknown value if it has become too large.
func (t *template) weigh(n *node) *node {
	n.weight = 1 + len(n.text)/64
	for _, item := range n.items {
		n.weight += max(item.weight, 1)
	}
	for _, m := range n.members {
		n.weight += max(m.value.weight, 1)
	}
	if t.found.work += n.weight; n.weight > maxARMWeight || len(n.text) > maxARMText || t.found.work > maxARMWork {
		return unknownValue("it is too large")
	}
	return n
}

// evaluate returns a value with what its expressions mean. Its places are those in the file.
func (t *template) evaluate(n *node) *node {
	if t.found.work > maxARMWork {
		v := unknownValue("it is too large")
		v.pos, v.path = n.pos, n.path
		return v
	}
	v := t.weigh(t.evaluateOne(n))
	v.pos, v.path = n.pos, n.path
	return v
}

func (t *template) evaluateOne(n *node) *node {
	v := *n
	switch n.kind {
	case kindString:
		expression, is := expressionOf(n.text)
		if !is {
			v.text = strings.TrimPrefix(v.text, "[")
			if v.text == n.text || !strings.HasPrefix(v.text, "[") {
				v.text = n.text
			}
			return &v
		}
		v = *t.expression(expression)
		v.pos, v.path = n.pos, n.path
		v.placeInner(n)
		if v.unknown != "" && v.kind == kindString {
			v.source = n.text
		}
	case kindArray:
		v.items = nil
		for _, item := range n.items {
			v.items = append(v.items, t.evaluate(item))
		}
	case kindObject:
		v.members = nil
		for _, m := range n.members {
			if loops := m.value; m.key == "copy" && loops.kind == kindArray {
				v.members = append(v.members, t.loops(loops)...)
				continue
			}
			key := m.key
			if expression, is := expressionOf(key); is {
				key = textOf(t.expression(expression))
			}
			v.members = append(v.members, member{key: key, pos: m.pos, value: t.evaluate(m.value)})
		}
	}
	return &v
}

// placeInner gives what a function has made the place of its expression.
func (n *node) placeInner(at *node) {
	inner := n.items
	for _, m := range n.members {
		inner = append(inner[:len(inner):len(inner)], m.value)
	}
	for _, x := range inner {
		if x.pos.line == 0 {
			x.pos, x.path = at.pos, at.path
			x.placeInner(at)
		}
	}
}

// loops returns the arrays that loops in an object make.
func (t *template) loops(list *node) (made []member) {
	for _, loop := range list.items {
		name, input := loop.get("name"), loop.get("input")
		if name == nil || input == nil {
			continue
		}
		all := &node{kind: kindArray, pos: loop.pos, path: loop.path}
		t.repeat(loop, func() { all.items = append(all.items, t.evaluate(input)) })
		made = append(made, member{key: name.text, pos: loop.pos, value: all})
	}
	return made
}

// expressionOf returns the expression in a text: [...], but not [[..., which is a text.
func expressionOf(text string) (expression string, is bool) {
	if len(text) < 2 || text[0] != '[' || text[1] == '[' || text[len(text)-1] != ']' {
		return "", false
	}
	return text[1 : len(text)-1], true
}

// expression returns the value of an expression. What is wrong with it makes it unknown.
func (t *template) expression(text string) *node {
	e := &expression{template: t, text: text}
	v := e.value(0)
	if e.space(); e.at < len(e.text) && e.wrong == "" {
		e.fail("found " + strconv.Quote(clip(e.text[e.at:])))
	}
	if e.wrong != "" {
		return unknownValue("it is no expression: " + e.wrong)
	}
	return v
}

// expression is one that is read and evaluated at once: it has no effects.
type expression struct {
	template *template
	text     string
	at       int
	wrong    string
}

// maxExpressionDepth bounds the nesting of an expression.
const maxExpressionDepth = 100

func (e *expression) fail(found string) *node {
	if e.wrong == "" {
		e.wrong = found + " at character " + strconv.Itoa(e.at+2)
	}
	e.at = len(e.text)
	return unknownValue(e.wrong)
}

func (e *expression) space() {
	for e.at < len(e.text) && strings.IndexByte(" \t\r\n", e.text[e.at]) >= 0 {
		e.at++
	}
}

// next reports whether this comes next, and skips it.
func (e *expression) next(token string) bool {
	if e.space(); strings.HasPrefix(e.text[e.at:], token) {
		e.at += len(token)
		return true
	}
	return false
}

// word reads a name.
func (e *expression) word(more string) string {
	begin := e.at
	for e.at < len(e.text) && (isAlnum(e.text[e.at]) || strings.IndexByte(more, e.text[e.at]) >= 0) {
		e.at++
	}
	return e.text[begin:e.at]
}

// value reads a value with what is picked from it.
func (e *expression) value(depth int) *node {
	if depth > maxExpressionDepth {
		return e.fail("found more nesting than " + strconv.Itoa(maxExpressionDepth))
	}
	v := e.primary(depth)
	for e.wrong == "" {
		switch {
		case e.next(".?"):
			v = pick(v, textValue(e.word("_")), true)
		case e.next("."):
			v = pick(v, textValue(e.word("_")), false)
		case e.next("[?"), e.next("["):
			safe := e.text[e.at-1] == '?'
			key := e.value(depth + 1)
			if !e.next("]") {
				return e.fail("found no ]")
			}
			v = pick(v, key, safe)
		default:
			return v
		}
	}
	return v
}

func (e *expression) primary(depth int) *node {
	e.space()
	if e.at >= len(e.text) {
		return e.fail("found the end")
	}
	switch c := e.text[e.at]; {
	case c == '\'':
		return e.quoted()
	case c == '-' || c >= '0' && c <= '9':
		begin := e.at
		e.at++
		e.word(".")
		n := &node{kind: kindNumber, text: e.text[begin:e.at]}
		if _, ok := wholeNumber(n); !ok {
			return e.fail("found " + strconv.Quote(clip(n.text)))
		}
		return n
	case isAlnum(c) || c == '_':
		name := e.word("_.")
		if !e.next("(") {
			return e.fail("found " + strconv.Quote(clip(name)) + " without (")
		}
		return e.call(name, depth)
	}
	return e.fail("found " + strconv.Quote(clip(e.text[e.at:])))
}

// quoted reads a text, in which two quotation marks stand for one.
func (e *expression) quoted() *node {
	var b strings.Builder
	for e.at++; e.at < len(e.text); e.at++ {
		if e.text[e.at] == '\'' {
			if e.at++; e.at >= len(e.text) || e.text[e.at] != '\'' {
				return textValue(b.String())
			}
		}
		b.WriteByte(e.text[e.at])
	}
	return e.fail("found a text that never ends")
}

// call reads the arguments of a function and calls it.
func (e *expression) call(name string, depth int) *node {
	var args []*node
	for !e.next(")") {
		if len(args) > 0 && !e.next(",") {
			return e.fail("found no ) of " + clip(name))
		}
		args = append(args, e.value(depth+1))
		if e.wrong != "" {
			return unknownValue(e.wrong)
		}
	}
	return e.template.call(name, args)
}

// pick returns a property of an object, or an item of an array.
func pick(of, key *node, safe bool) *node {
	switch {
	case of.unknown != "" && len(of.items)+len(of.members) == 0:
		return unknownValue(of.unknown)
	case key.unknown != "":
		return unknownValue(key.unknown)
	case of.kind == kindArray:
		if i, ok := wholeNumber(key); ok && i >= 0 && i < int64(len(of.items)) {
			return of.items[i]
		}
	case of.kind == kindObject:
		if v := of.member(key.text); v != nil {
			return v
		}
	}
	if safe {
		return &node{}
	}
	return unknownValue("there is no " + quote(key.text) + " in it")
}

// member returns the value of a key, also one that is null.
func (n *node) member(key string) *node {
	for _, m := range n.members {
		if strings.EqualFold(m.key, key) {
			return m.value
		}
	}
	return nil
}

// parameter returns the value of a parameter: one that was given, or its default.
func (t *template) parameter(name string) *node {
	if v := t.given[strings.ToLower(name)]; v != nil {
		return v
	}
	p := t.root.get("parameters").get(name)
	if p == nil {
		return unknownValue("there is no parameter " + quote(name))
	}
	if fallback := p.member("defaultValue"); fallback != nil {
		return t.once("parameter "+strings.ToLower(name), fallback)
	}
	if nullable := p.get("nullable"); nullable != nil && nullable.boolean {
		return &node{}
	}
	return unknownValue("the parameter " + quote(name) + " has no default value")
}

// variable returns the value of a variable.
func (t *template) variable(name string) *node {
	variables := t.root.get("variables")
	if v := variables.lookUp(name); v != nil {
		return t.once("variable "+strings.ToLower(name), v)
	}
	if loops := variables.get("copy"); loops != nil && loops.kind == kindArray {
		for _, m := range t.loops(loops) {
			if strings.EqualFold(m.key, name) {
				return m.value
			}
		}
	}
	return unknownValue("there is no variable " + quote(name))
}

// lookUp is member of a node that may be missing.
func (n *node) lookUp(key string) *node {
	if n == nil {
		return nil
	}
	return n.member(key)
}

// once evaluates what a parameter or a variable is, unless that leads back to itself.
func (t *template) once(name string, n *node) *node {
	if v := t.evaluated[name]; v != nil {
		return v
	}
	if t.evaluating[name] {
		return unknownValue("the " + name + " leads back to itself")
	}
	t.evaluating[name] = true
	defer delete(t.evaluating, name)
	t.evaluated[name] = t.evaluate(n)
	return t.evaluated[name]
}
