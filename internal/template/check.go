package template

import (
	"fmt"
	"strings"

	"minibus/internal/jsontree"
)

// Problem is a mistake in a template, with its place.
type Problem struct {
	At   *Node
	Text string
}

// Limits of a template, as Azure has them. That of its resources is [MaxCount].
const (
	MaxSize       = 4 << 20 // bytes
	maxParameters = 256
	maxVariables  = 512
	maxOutputs    = 256
	maxExpression = 24_576 // characters
)

// Check looks at a whole document, with the templates in it, before anything is evaluated: its size, its expressions,
// and that there are the functions that they call, also those of a branch that is not taken.
func Check(root *Node, host Host) *Problem {
	c := &checker{host: host, user: make(map[string]bool)}
	c.names(root)
	return c.check(root)
}

type checker struct {
	host Host
	user map[string]bool // functions that a template of the document defines
}

// names notes the functions that templates define.
func (c *checker) names(n *Node) {
	functions := n.Get("functions")
	if functions == nil {
		functions = &Node{}
	}
	for _, group := range functions.Items {
		if space := group.Get("namespace"); space != nil && group.Get("members") != nil {
			for _, m := range group.Get("members").Members {
				c.user[strings.ToLower(space.Text+"."+m.Key)] = true
			}
		}
	}
	for _, item := range n.Items {
		c.names(item)
	}
	for _, m := range n.Members {
		c.names(m.Value)
	}
}

func (c *checker) check(n *Node) *Problem {
	if n.Kind == jsontree.String {
		return c.text(n, n.Text)
	}
	for _, item := range n.Items {
		if p := c.check(item); p != nil {
			return p
		}
	}
	if isTemplate := n.Get("$schema") != nil && n.Member("resources") != nil; isTemplate {
		for _, limit := range []struct {
			key  string
			most int
		}{{"parameters", maxParameters}, {"variables", maxVariables}, {"outputs", maxOutputs}} {
			if list := n.Get(limit.key); list != nil && len(list.Members) > limit.most {
				return &Problem{list, fmt.Sprintf("found %d %s; a template may have %d", len(list.Members), limit.key,
					limit.most)}
			}
		}
	}
	for _, m := range n.Members {
		if strings.EqualFold(m.Key, "metadata") {
			continue // texts for people, which may stand in brackets
		}
		if p := c.text(&Node{Pos: m.Pos, Path: jsontree.ChildPath(n.Path, m.Key)}, m.Key); p != nil {
			return p
		}
		if p := c.check(m.Value); p != nil {
			return p
		}
	}
	return nil
}

// text checks the expression that a text may be.
func (c *checker) text(at *Node, text string) *Problem {
	inner, is := expressionOf(text)
	if !is {
		return nil
	}
	if len(text) > maxExpression {
		const found = "found an expression of %d characters; it may have %d"
		return &Problem{at, fmt.Sprintf(found, len(text), maxExpression)}
	}
	e, wrong := parse(inner)
	if wrong != "" {
		return &Problem{at, "found " + quote(text) + ", which is no expression: " + wrong}
	}
	if name := c.missing(e); name != "" {
		return &Problem{at, "found the function " + quote(name) + ", which Minibus does not evaluate"}
	}
	return nil
}

// missing returns a function that an expression calls and that there is not.
func (c *checker) missing(e *expression) string {
	if e.name != "" && !c.known(strings.TrimPrefix(strings.ToLower(e.name), "sys.")) {
		return e.name
	}
	for _, a := range e.args {
		if name := c.missing(a); name != "" {
			return name
		}
	}
	return ""
}

func (c *checker) known(lower string) bool {
	return lazy[lower] != nil || acceptUnknown[lower] != nil || functions[lower] != nil ||
		measured[lower] != nil || ofTemplate[lower] || c.host[lower] != nil || c.user[lower] ||
		strings.HasPrefix(lower, "list") && c.host["list"] != nil
}

// Parameters returns the value of every parameter by its name in lower case, or what is wrong with one.
func (t *Template) Parameters() (map[string]*Node, *Problem) {
	declared := t.root.Get("parameters")
	values := make(map[string]*Node)
	if declared == nil {
		declared = &Node{Kind: jsontree.Object, Pos: t.root.Pos, Path: "$.parameters"}
	}
	for name := range t.given {
		if declared.Get(name) == nil {
			var known []string
			for _, m := range declared.Members {
				known = append(known, m.Key)
			}
			return nil, &Problem{declared, fmt.Sprintf("The template parameters '%s' in the parameters file are not "+
				"valid; they are not present in the original template and can therefore not be provided at deployment "+
				"time. The only supported parameters for this template are '%s'.", clip(name),
				strings.Join(known, ", "))}
		}
	}
	for _, m := range declared.Members {
		lower := strings.ToLower(m.Key)
		if t.given[lower] == nil && m.Value.Member("defaultValue") == nil && !t.nullable(m.Value) {
			return nil, &Problem{m.Value, "The value for the template parameter '" + m.Key + "' is not provided."}
		}
	}
	for _, m := range declared.Members {
		lower := strings.ToLower(m.Key)
		v := t.parameter(m.Key)
		if t.nullable(m.Value) && v.Kind == jsontree.Null {
			values[lower] = v
			continue
		}
		if wrong := t.mismatch(v, m.Value, m.Key, 0); wrong != "" {
			return nil, &Problem{m.Value, wrong}
		}
		values[lower] = v
	}
	return values, nil
}

// Output returns the value of an output, or what is wrong with it. skip: its condition is false.
func (t *Template) Output(d *Node) (v *Node, skip bool) {
	if condition := d.Member("condition"); condition != nil {
		yes := t.Evaluate(condition)
		if yes.Unknown != "" {
			return yes, false
		}
		if !Truth(yes) {
			return nil, true
		}
	}
	switch {
	case d.Get("copy") != nil:
		return t.Loop("", d.Get("copy")), false
	case d.Member("value") == nil:
		return Unknown("there is no value"), false
	}
	return t.Evaluate(d.Member("value")), false
}
