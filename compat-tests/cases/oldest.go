package cases

import (
	"fmt"
	"slices"
	"strings"
)

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
		at := slices.IndexFunc(r.list.Columns, func(c Column) bool { return c.ID == o.Of })
		proven, _, _ := r.count(o.Of)
		without := "nothing"
		if len(o.Without) > 0 {
			without = "`" + strings.Join(o.Without, "`, `") + "`"
		}
		fmt.Fprintf(&r.out, "| %s | %s | %d | %s | %s |\n",
			r.list.Columns[at].Title, o.Version, proven-len(o.Without), o.What, without)
	}
}
