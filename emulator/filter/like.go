package filter

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// pattern is a compiled LIKE pattern: the pieces between the % signs. The first piece stands at the start of the text and
// the last at its end; each piece between is found as far left as possible, which never spoils a match, so matching goes
// through the text once and never back.
type pattern struct{ pieces []piece }

// piece is a row of characters without %. A plain piece is compared as text; a piece with _ in it is kept rune by rune.
type piece struct {
	text  string
	runes []rune // nil for a plain piece; anyRune for _
	masks map[rune]bitset
	any   bitset // the places of _
}

const anyRune rune = -1

// compilePattern takes a pattern apart. With an escape character, the character behind one is literal whatever it is; at
// the very end the escape character stands for itself.
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

// cutPrefix returns what follows the piece at the start of the text.
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

// cutSuffix returns what stands before the piece at the end of the text.
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

// cutThrough returns what follows the piece where it first occurs in the text. A piece with _ is found by following all
// its beginnings at once, one bit each (the shift-and method), so that no text makes it go back.
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

// bitset is a set of places in a piece.
type bitset []uint64

func newBitset(bits int) bitset { return make(bitset, (bits+63)/64) }
func (b bitset) set(i int)      { b[i/64] |= 1 << (i % 64) }
func (b bitset) has(i int) bool { return b[i/64]>>(i%64)&1 == 1 }
func (b bitset) clone() bitset  { return slices.Clone(b) }

// shiftAnd moves every place by one, adds the first one and keeps those that are in other too.
func (b bitset) shiftAnd(other bitset) {
	carry := uint64(1)
	for i, word := range b {
		b[i] = (word<<1 | carry) & other[i]
		carry = word >> 63
	}
}
