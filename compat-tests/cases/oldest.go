package cases

import (
	"fmt"
	"strings"
)

// OldestColumns returns the ids under which the suites note what the oldest releases prove.
func OldestColumns() ([]string, error) {
	list, err := Cases()
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, o := range list.Oldest {
		ids = append(ids, o.ID)
	}
	return ids, nil
}

const oldestIntro = `
## The oldest releases

The same suites with the oldest release of each SDK that knows ` + "`UseDevelopmentEmulator=true`" + `, from ` + "`.ci/nightly oldest`" + ` and, for Java,
from ` + "`.ci/run compat`" + `. A behaviour that only the newest release proves has a test that did not run with the oldest one, or that needs what that
release lacks: the lists of the tests that are left out give the reasons. The messages that each SDK sends to each other one, with every property and body, are
exchanged by the newest releases only. The suite of .NET runs with the newest release only.

| Client | Version | Proven | What ran | Only with the newest release |
| --- | --- | --: | --- | --- |
`

// oldest renders what the oldest releases prove.
func (r *renderer) oldest() {
	r.out.WriteString(oldestIntro)
	for _, o := range r.list.Oldest {
		old, title := r.proven.ids(o.ID), o.Of
		for _, column := range r.list.Columns {
			if column.ID == o.Of {
				title = column.Title
			}
		}
		fmt.Fprintf(&r.out, "| %s | %s | %d | %s | %s |\n", title, r.proven.Versions[o.ID], len(old), o.What, r.onlyNewest(r.proven.ids(o.Of), old))
	}
}

// onlyNewest lists the behaviours that the newest release alone proves, in the order of the list.
func (r *renderer) onlyNewest(newest, oldest map[string]bool) string {
	var ids []string
	for _, section := range r.list.Sections {
		for _, c := range section.Cases {
			if newest[c.ID] && !oldest[c.ID] {
				ids = append(ids, "`"+c.ID+"`")
			}
		}
	}
	if ids == nil {
		return "nothing"
	}
	return strings.Join(ids, ", ")
}
