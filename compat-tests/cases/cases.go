package cases

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
)

//go:embed cases.txt
var listText string

// A Column is a client that is asked for every behaviour.
type Column struct {
	ID, Title, Package string
	Version            string // of the package, with which the suite runs; empty: no suite has such a column
}

// An Oldest is another release of a column's client: the oldest that knows the emulator's flag.
type Oldest struct {
	ID, Of  string // of the notes, and of the column
	Version string
	What    string   // ran
	Without []string // behaviours that only the newest release proves
}

// A Case is a behaviour.
type Case struct {
	ID, What string
	Rules    []string          // of docs/rules.md
	Excluded map[string]string // by column: why it can't be
}

// A Section holds behaviours of a subject.
type Section struct {
	Title string
	Cases []Case
}

// A List holds what cases.txt says.
type List struct {
	Columns  []Column
	Oldest   []Oldest
	Sections []Section
	Reasons  map[string]string // by id, with their texts
}

// Cases returns the list.
func Cases() (*List, error) { return parse(listText) }

// Find returns a behaviour by its id.
func (l *List) Find(id string) (Case, bool) {
	for _, s := range l.Sections {
		for _, c := range s.Cases {
			if c.ID == id {
				return c, true
			}
		}
	}
	return Case{}, false
}

// column reports whether there is such a column.
func (l *List) column(id string) bool {
	return slices.ContainsFunc(l.Columns, func(c Column) bool { return c.ID == id })
}

func parse(text string) (*List, error) {
	p := parser{list: &List{Reasons: make(map[string]string)}}
	number := 0
	for line := range strings.Lines(text) {
		number++
		if err := p.line(strings.TrimSpace(line)); err != nil {
			return nil, fmt.Errorf("line %d of the list of behaviours: %w", number, err)
		}
	}
	return p.list, nil
}

type parser struct {
	list    *List
	without map[string]string // what the section leaves out
}

func (p *parser) line(line string) error {
	fields := strings.Split(line, "|")
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	first, rest, _ := strings.Cut(fields[0], " ")
	switch {
	case line == "", strings.HasPrefix(line, "# "), line == "#":
		return nil
	case first == "column" && (len(fields) == 3 || len(fields) == 4):
		column := Column{ID: rest, Title: fields[1], Package: fields[2]}
		if len(fields) == 4 {
			column.Version = fields[3]
		}
		p.list.Columns = append(p.list.Columns, column)
		return nil
	case first == "oldest" && len(fields) == 5:
		if !p.list.column(fields[1]) {
			return fmt.Errorf("unknown column %q", fields[1])
		}
		p.list.Oldest = append(p.list.Oldest, Oldest{
			ID: rest, Of: fields[1], Version: fields[2], What: fields[3], Without: strings.Fields(fields[4]),
		})
		return nil
	case first == "reason" && len(fields) == 2:
		p.list.Reasons[rest] = fields[1]
		return nil
	case first == "##":
		return p.section(rest, fields[1:])
	case rest != "" || len(fields) < 2 || len(fields) > 4:
		return fmt.Errorf("%q is no behaviour", line)
	}
	return p.behaviour(fields)
}

func (p *parser) section(title string, more []string) (err error) {
	p.without = nil
	if len(more) > 0 {
		p.without, err = p.exclusions(more[0], nil)
	}
	p.list.Sections = append(p.list.Sections, Section{Title: title})
	return err
}

func (p *parser) behaviour(fields []string) (err error) {
	c := Case{ID: fields[0], What: fields[1], Excluded: p.without}
	if len(fields) > 2 {
		c.Rules = strings.Fields(fields[2])
	}
	if len(fields) > 3 {
		if c.Excluded, err = p.exclusions(fields[3], p.without); err != nil {
			return err
		}
	}
	if reason := c.Excluded["go"]; reason != "" && c.Excluded[SeenColumn] == "" {
		c.Excluded = maps.Clone(c.Excluded)
		c.Excluded[SeenColumn] = reason // it is seen with the Go SDK
	}
	if _, twice := p.list.Find(c.ID); twice {
		return fmt.Errorf("%s stands twice", c.ID)
	}
	if len(p.list.Sections) == 0 {
		return fmt.Errorf("%s stands before the first section", c.ID)
	}
	section := &p.list.Sections[len(p.list.Sections)-1]
	section.Cases = append(section.Cases, c)
	return nil
}

// exclusions reads "go,js notxn; dotnet engine" and adds it to those of the section.
func (p *parser) exclusions(text string, also map[string]string) (map[string]string, error) {
	all := make(map[string]string)
	for column, reason := range also {
		all[column] = reason
	}
	for part := range strings.SplitSeq(text, ";") {
		columns, reason, _ := strings.Cut(strings.TrimSpace(part), " ")
		if _, known := p.list.Reasons[reason]; !known {
			return nil, fmt.Errorf("unknown reason %q", reason)
		}
		for column := range strings.SplitSeq(columns, ",") {
			if !p.list.column(column) {
				return nil, fmt.Errorf("unknown column %q", column)
			}
			all[column] = reason
		}
	}
	return all, nil
}
