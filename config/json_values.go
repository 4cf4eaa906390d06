package config

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// object reads members up to the closing brace. The caller has consumed the opening one.
func (p *parser) object(n *node) {
	n.kind = kindObject
	for done := false; !done; done = p.separator(n.path, '}') {
		if p.space(n.path); p.peek() == '}' {
			p.next()
			return
		}
		if p.peek() != '"' {
			p.fail(n.path, "found %s, a key in double quotes or } belongs here", p.here())
		}
		n.members = append(n.members, p.member(n))
	}
}

func (p *parser) member(n *node) member {
	m := member{pos: p.pos(), key: p.str(n.path)}
	path := childPath(n.path, m.key)
	if p.space(path); p.peek() != ':' {
		p.fail(path, "found %s, a colon belongs behind the key %q", p.here(), clip(m.key))
	}
	p.next()
	p.space(path)
	m.value = p.value(path)
	return m
}

// array reads values up to the closing bracket. The caller has consumed the opening one.
func (p *parser) array(n *node) {
	n.kind = kindArray
	for done := false; !done; done = p.separator(n.path, ']') {
		if p.space(n.path); p.peek() == ']' {
			p.next()
			return
		}
		n.items = append(n.items, p.value(indexPath(n.path, len(n.items))))
	}
}

// separator reads a comma, or the end of the container, which it reports.
func (p *parser) separator(path string, end byte) (done bool) {
	p.space(path)
	c := p.peek()
	if c != ',' && c != end {
		p.fail(path, "found %s, a comma or %q belongs here", p.here(), string(rune(end)))
	}
	p.next()
	return c == end
}

// str reads a string in double quotes.
func (p *parser) str(path string) string {
	start := p.pos()
	p.next()
	var b strings.Builder
	for {
		if p.off >= len(p.src) || p.peek() == '\n' || p.peek() == '\r' {
			p.failAt(start, path, `found a string that never ends, " belongs behind it`)
		}
		switch r := p.next(); r {
		case '"':
			return b.String()
		case '\\':
			p.escape(&b, path)
		default:
			b.WriteRune(r)
		}
	}
}

func (p *parser) escape(b *strings.Builder, path string) {
	at := p.pos()
	if p.off >= len(p.src) {
		p.failAt(at, path, `found a string that never ends, " belongs behind it`)
	}
	switch c := p.next(); c {
	case '"', '\\', '/':
		b.WriteRune(c)
	case 'b':
		b.WriteByte('\b')
	case 'f':
		b.WriteByte('\f')
	case 'n':
		b.WriteByte('\n')
	case 'r':
		b.WriteByte('\r')
	case 't':
		b.WriteByte('\t')
	case 'u':
		r, ok := p.hex4()
		if !ok {
			p.failAt(at, path, `found a broken \u escape, four hexadecimal digits belong behind it`)
		}
		b.WriteRune(p.surrogate(r))
	default:
		p.failAt(at, path, `found an unknown escape, a backslash before %q (a backslash itself is written \\)`, c)
	}
}

// surrogate joins r with the next escape if they are a surrogate pair.
func (p *parser) surrogate(r rune) rune {
	if !utf16.IsSurrogate(r) {
		return r
	}
	saved := *p
	if strings.HasPrefix(p.src[p.off:], `\u`) {
		p.next()
		p.next()
		if low, ok := p.hex4(); ok {
			if joined := utf16.DecodeRune(r, low); joined != utf8.RuneError {
				return joined
			}
		}
	}
	*p = saved
	return utf8.RuneError
}

func (p *parser) hex4() (rune, bool) {
	if p.off+4 > len(p.src) {
		return 0, false
	}
	v, err := strconv.ParseUint(p.src[p.off:p.off+4], 16, 16)
	if err != nil {
		return 0, false
	}
	for range 4 {
		p.next()
	}
	return rune(v), true
}

// number reads a number but keeps its spelling, since only the decoder knows the type.
func (p *parser) number(n *node) {
	n.kind = kindNumber
	start := p.off
	for p.off < len(p.src) && strings.IndexByte("+-.eE0123456789", p.peek()) >= 0 {
		p.next()
	}
	n.text = p.src[start:p.off]
	if _, err := strconv.ParseFloat(n.text, 64); err != nil && !strings.Contains(err.Error(), "range") {
		p.failAt(n.pos, n.path, "found %q, which is not a number", clip(n.text))
	}
}

// word reads true, false and null in any case: hand-written files have Python's and .NET's spelling.
func (p *parser) word(n *node) {
	start := p.off
	for p.off < len(p.src) && isAlnum(p.peek()) {
		p.next()
	}
	switch text := p.src[start:p.off]; strings.ToLower(text) {
	case "true":
		n.kind, n.boolean = kindBool, true
	case "false":
		n.kind = kindBool
	case "null", "none":
		n.kind = kindNull
	default:
		p.failAt(n.pos, n.path, "found %q without quotes, a value belongs here (text stands in double quotes)", clip(text))
	}
}
