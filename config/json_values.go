package config

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// object reads members up to the closing brace. The caller has consumed the opening one.
func (p *parser) object(n *node) error {
	n.kind = kindObject
	for {
		if err := p.space(n.path); err != nil {
			return err
		}
		if p.peek() == '}' {
			p.next()
			return nil
		}
		if p.peek() != '"' {
			return p.fail(n.path, "found %s, a key in double quotes or } belongs here", p.here())
		}
		if err := p.member(n); err != nil {
			return err
		}
		if done, err := p.separator(n.path, '}'); done || err != nil {
			return err
		}
	}
}

func (p *parser) member(n *node) error {
	m := member{pos: p.pos()}
	var err error
	if m.key, err = p.str(n.path); err != nil {
		return err
	}
	path := childPath(n.path, m.key)
	if err := p.space(path); err != nil {
		return err
	}
	if p.peek() != ':' {
		return p.fail(path, "found %s, a colon belongs behind the key %q", p.here(), clip(m.key))
	}
	p.next()
	if err := p.space(path); err != nil {
		return err
	}
	if m.value, err = p.value(path); err != nil {
		return err
	}
	n.members = append(n.members, m)
	return nil
}

// array reads values up to the closing bracket. The caller has consumed the opening one.
func (p *parser) array(n *node) error {
	n.kind = kindArray
	for {
		if err := p.space(n.path); err != nil {
			return err
		}
		if p.peek() == ']' {
			p.next()
			return nil
		}
		item, err := p.value(indexPath(n.path, len(n.items)))
		if err != nil {
			return err
		}
		n.items = append(n.items, item)
		if done, err := p.separator(n.path, ']'); done || err != nil {
			return err
		}
	}
}

// separator reads a comma or the end of the container, or a trailing comma and the end.
func (p *parser) separator(path string, end byte) (done bool, err error) {
	if err := p.space(path); err != nil {
		return false, err
	}
	switch p.peek() {
	case ',':
		p.next()
		return false, nil
	case end:
		p.next()
		return true, nil
	}
	return false, p.fail(path, "found %s, a comma or %q belongs here", p.here(), string(rune(end)))
}

// str reads a string in double quotes.
func (p *parser) str(path string) (string, error) {
	start := p.pos()
	p.next()
	var b strings.Builder
	for {
		if p.off >= len(p.src) || p.peek() == '\n' || p.peek() == '\r' {
			return "", &syntaxError{pos: start, path: path, text: `found a string that never ends, " belongs behind it`}
		}
		switch r := p.next(); r {
		case '"':
			return b.String(), nil
		case '\\':
			if err := p.escape(&b, path); err != nil {
				return "", err
			}
		default:
			b.WriteRune(r)
		}
	}
}

func (p *parser) escape(b *strings.Builder, path string) error {
	at := p.pos()
	if p.off >= len(p.src) {
		return &syntaxError{pos: at, path: path, text: `found a string that never ends, " belongs behind it`}
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
			return &syntaxError{pos: at, path: path, text: `found a broken \u escape, four hexadecimal digits belong behind it`}
		}
		b.WriteRune(p.surrogate(r))
	default:
		return &syntaxError{pos: at, path: path,
			text: "found an unknown escape, a backslash before " + strconv.QuoteRune(c) + ` (a backslash itself is written \\)`}
	}
	return nil
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
func (p *parser) number(n *node) error {
	n.kind = kindNumber
	start := p.off
	for p.off < len(p.src) && strings.IndexByte("+-.eE0123456789", p.peek()) >= 0 {
		p.next()
	}
	n.text = p.src[start:p.off]
	if _, err := strconv.ParseFloat(n.text, 64); err != nil && !strings.Contains(err.Error(), "range") {
		return &syntaxError{pos: n.pos, path: n.path, text: "found " + strconv.Quote(clip(n.text)) + ", which is not a number"}
	}
	return nil
}

// word reads true, false and null in any case: hand-written files have Python's and .NET's spelling.
func (p *parser) word(n *node) error {
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
		return &syntaxError{pos: n.pos, path: n.path,
			text: "found " + strconv.Quote(clip(text)) + " without quotes, a value belongs here (text stands in double quotes)"}
	}
	return nil
}
