package amqp

// within decodes elements with the input cut to their compound, and checks that they fill it exactly.
func (d *decoder) within(c compound, elements func() error) error {
	whole := d.b
	d.b, d.pos = whole[:c.end], c.start
	err := elements()
	d.b = whole
	if err != nil {
		return err
	}
	if d.pos != c.end {
		return d.fail("bytes after the last element", ErrMalformed)
	}
	return nil
}

func (d *decoder) list(code byte, depth int) (any, error) {
	c, err := d.enter(code, depth)
	if err != nil {
		return nil, err
	}
	var items List
	err = d.within(c, func() error {
		for range c.count {
			v, err := d.value(depth + 1)
			if err != nil {
				return err
			}
			items = append(grow(items, c.count), v)
		}
		return nil
	})
	if c.count == 0 && err == nil {
		return emptyList, nil
	}
	return items, err
}

func (d *decoder) mapping(code byte, depth int) (any, error) {
	c, err := d.enter(code, depth)
	if err != nil {
		return nil, err
	}
	var pairs Map
	err = d.within(c, func() error {
		for range c.count / 2 {
			k, err := d.value(depth + 1)
			if err != nil {
				return err
			}
			v, err := d.value(depth + 1)
			if err != nil {
				return err
			}
			pairs = append(grow(pairs, c.count/2), Pair{k, v})
		}
		return nil
	})
	if c.count == 0 && err == nil {
		return emptyMap, nil
	}
	return pairs, err
}

// Empty lists and maps are not nil, unlike absent ones; all share these two.
var (
	emptyList any = List{}
	emptyMap  any = Map{}
)

// grow returns s with space for one more of the count elements that its compound claims. It doubles the capacity: a
// claim alone allocates only a few elements, and append's own growth would cost more in all.
func grow[T any](s []T, count uint32) []T {
	if len(s) < cap(s) {
		return s
	}
	larger := make([]T, len(s), min(int64(count), int64(max(firstItems, 2*cap(s)))))
	copy(larger, s)
	return larger
}

func (d *decoder) enter(code byte, depth int) (compound, error) {
	if depth >= MaxDepth {
		return compound{}, d.fail("compound value", ErrTooDeep)
	}
	return sequenceAt(d.b, d.pos, code)
}

func (d *decoder) array(code byte, depth int) (any, error) {
	if depth >= MaxDepth {
		return nil, d.fail("array", ErrTooDeep)
	}
	c, err := compoundAt(d.b, d.pos, code)
	if err != nil {
		return nil, err
	}
	arr := Array{Code: CodeNull, Items: []any{}}
	if c.count == 0 && c.start == c.end {
		d.pos = c.end // some encoders omit the constructor of an empty array
		return arr, nil
	}
	err = d.within(c, func() error { return d.elements(&arr, c.count, depth+1) })
	return arr, err
}

// elements reads an array's element constructor, with its descriptor if it has one, and the elements.
func (d *decoder) elements(arr *Array, count uint32, depth int) error {
	if d.pos >= len(d.b) {
		return d.fail("element constructor", ErrTruncated)
	}
	arr.Code = d.b[d.pos]
	code := arr.Code
	var descriptor any
	if arr.Code == CodeDescribed {
		var err error
		d.pos++
		if descriptor, err = d.value(depth); err != nil {
			return err
		}
		if d.pos >= len(d.b) {
			return d.fail("element constructor", ErrTruncated)
		}
		code = d.b[d.pos]
	}
	if l := layouts[code]; l == layoutUnknown || l == layoutDescribed {
		return d.fail("element constructor", ErrMalformed)
	}
	if err := d.afford(code, count); err != nil {
		return err
	}
	for range count {
		v, err := d.primitive(code, depth)
		if err != nil {
			return err
		}
		d.pos-- // the next element has no constructor of its own either
		if arr.Code == CodeDescribed {
			v = Described{descriptor, v}
		}
		arr.Items = append(grow(arr.Items, count), v)
	}
	d.pos++
	return nil
}

// afford refuses an element count that is too large for the remaining bytes, before anything is allocated for it.
func (d *decoder) afford(code byte, count uint32) error {
	if layouts[code] != layoutFixed || widths[code>>4] > 0 {
		if uint64(count) > uint64(len(d.b)-d.pos-1) {
			return d.fail("array", ErrTooMany)
		}
		return nil
	}
	if uint64(count) > uint64(d.zero) {
		return d.fail("array of elements without bytes", ErrTooMany)
	}
	d.zero -= int(count)
	return nil
}
