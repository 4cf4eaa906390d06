package filter

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// pattern is a compiled LIKE pattern: the pieces between the % signs. The first piece must match at the start of the
// text and the last at its end; match finds each piece between as far left as possible, which never spoils a match,
// so it goes through the text once and never back.
type pattern struct{ pieces []piece }

// piece is a sequence of characters without %. A plain piece is compared as text; a piece with _ is matched rune by
// rune.
type piece struct {
	text  string
	runes []rune // nil for a plain piece; anyRune for _
	masks map[rune]bitset
	any   bitset // positions of _
}

const anyRune rune = -1

// compilePattern splits a pattern into pieces. If escaped, every character after escape is literal; at
// the very end escape stands for itself.
func compilePattern(text string, escape rune, escaped bool) *pattern {
	var p pattern
	var runes []rune
	literalNext := false
	for _, r := range text {
		switch {
		case literalNext:
			literalNext = false
			runes = append(runes, r)
		case escaped && r == escape:
			literalNext = true
		case r == '%':
			p.pieces = append(p.pieces, newPiece(runes))
			runes = nil
		case r == '_':
			runes = append(runes, anyRune)
		default:
			runes = append(runes, r)
		}
	}
	if literalNext {
		runes = append(runes, escape)
	}
	p.pieces = append(p.pieces, newPiece(runes))
	return &p
}

func newPiece(runes []rune) piece {
	plain := true
	for _, r := range runes {
		plain = plain && r != anyRune
	}
	if plain {
		return piece{text: string(runes)}
	}
	p := piece{runes: runes, masks: make(map[rune]bitset), any: newBitset(len(runes))}
	for i, r := range runes {
		if r == anyRune {
			p.any.set(i)
		}
	}
	for i, r := range runes {
		if r == anyRune {
			continue
		}
		if p.masks[r] == nil {
			p.masks[r] = p.any.clone()
		}
		p.masks[r].set(i)
	}
	return p
}

// match reports whether the whole text fits the pattern.
func (p *pattern) match(text string) bool {
	first, last := &p.pieces[0], &p.pieces[len(p.pieces)-1]
	rest, ok := first.cutPrefix(text)
	if !ok || len(p.pieces) == 1 {
		return ok && rest == ""
	}
	if rest, ok = last.cutSuffix(rest); !ok {
		return false
	}
	for i := 1; i < len(p.pieces)-1; i++ {
		if rest, ok = p.pieces[i].cutThrough(rest); !ok {
			return false
		}
	}
	return true
}

// cutPrefix returns the rest of the text after the piece at its start.
func (p *piece) cutPrefix(text string) (rest string, ok bool) {
	if p.runes == nil {
		return strings.CutPrefix(text, p.text)
	}
	for _, want := range p.runes {
		r, size := utf8.DecodeRuneInString(text)
		if size == 0 || want != anyRune && want != r {
			return "", false
		}
		text = text[size:]
	}
	return text, true
}

// cutSuffix returns the rest of the text before the piece at its end.
func (p *piece) cutSuffix(text string) (rest string, ok bool) {
	if p.runes == nil {
		return strings.CutSuffix(text, p.text)
	}
	for i := len(p.runes) - 1; i >= 0; i-- {
		r, size := utf8.DecodeLastRuneInString(text)
		if size == 0 || p.runes[i] != anyRune && p.runes[i] != r {
			return "", false
		}
		text = text[:len(text)-size]
	}
	return text, true
}

// cutThrough returns the rest of the text after the first occurrence of the piece. It finds a piece with _ by
// following all its prefixes at once, one bit each (the shift-and method), so that it never goes back.
func (p *piece) cutThrough(text string) (rest string, ok bool) {
	if p.runes == nil {
		_, rest, ok = strings.Cut(text, p.text)
		return rest, ok
	}
	var small [4]uint64
	alive := bitset(small[:])
	if len(p.any) > len(small) {
		alive = newBitset(len(p.runes))
	}
	alive = alive[:len(p.any)]
	for i, r := range text {
		mask, known := p.masks[r]
		if !known {
			mask = p.any
		}
		alive.shiftAnd(mask)
		if alive.has(len(p.runes) - 1) {
			_, size := utf8.DecodeRuneInString(text[i:])
			return text[i+size:], true
		}
	}
	return "", false
}

// bitset is a set of positions in a piece.
type bitset []uint64

func newBitset(bits int) bitset { return make(bitset, (bits+63)/64) }
func (b bitset) set(i int)      { b[i/64] |= 1 << (i % 64) }
func (b bitset) has(i int) bool { return b[i/64]>>(i%64)&1 == 1 }
func (b bitset) clone() bitset  { return slices.Clone(b) }

// shiftAnd moves every position by one, adds the first one and keeps those that are also in other.
func (b bitset) shiftAnd(other bitset) {
	carry := uint64(1)
	for i, word := range b {
		b[i] = (word<<1 | carry) & other[i]
		carry = word >> 63
	}
}
