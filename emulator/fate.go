package emulator

// fate says whether a change failed, for later changes that mean nothing without it.
type fate struct{ err error }

// ties bind a change to others: to later ones that need it, and to earlier ones that it needs.
type ties struct {
	told   []*fate // learn of it if the change fails
	needed []*fate // if one of them failed the change fails
}

// Unmet returns the error of a change that this one needs, if it has failed. A journal asks before it applies the change,
// which fails with that error then. It is called on the journal's goroutine, as Failed is.
func (c *Change) Unmet() error {
	if c.ties == nil {
		return nil
	}
	for _, f := range c.ties.needed {
		if f.err != nil {
			return f.err
		}
	}
	return nil
}

// Tied reports whether the change needs others, or others need it.
func (c *Change) Tied() bool { return c.ties != nil }

// Failed notes that the change has failed alone, for those that need it. A journal calls it before it goes on to the next
// change.
func (c *Change) Failed(err error) {
	if c.ties == nil {
		return
	}
	for _, f := range c.ties.told {
		f.err = err
	}
}

// tie returns the change's ties, to add to them.
func (c *Change) tie() *ties {
	if c.ties == nil {
		c.ties = &ties{}
	}
	return c.ties
}

// Needs makes c fail if first, which is to be appended before it, fails. Both are not appended yet.
func (c *Change) Needs(first *Change) {
	f := &fate{}
	first.tie().told = append(first.tie().told, f)
	c.tie().needed = append(c.tie().needed, f)
}

// inherit gives c the ties of a change that becomes part of it.
func (c *Change) inherit(part *Change) {
	if part.ties == nil {
		return
	}
	t := c.tie()
	t.told = append(t.told, part.ties.told...)
	t.needed = append(t.needed, part.ties.needed...)
}
