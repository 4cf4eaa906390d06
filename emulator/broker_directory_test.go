package emulator

import (
	"fmt"
	"strings"
	"testing"
)

// Of deleted namespaces the aliases that ended last are remembered, however many have come and gone. One that another namespace had meanwhile counts
// from its last end.
func TestDirectory_ForgetsOldAliases(t *testing.T) {
	const spaces, aliases = 600, 100
	d := newDirectory()
	alias := func(i, k int) handle { return handle{alias: fmt.Sprintf("a%d-%d.%s", i, k, strings.Repeat("x", 100))} }
	comeAndGo := func(name string, of ...handle) {
		ns := &Namespace{name: name}
		handles := append([]handle{{name: name}}, of...)
		d.replace(ns, nil, handles)
		d.replace(ns, handles, nil)
	}
	for i := range spaces {
		var all []handle
		for k := range aliases {
			all = append(all, alias(i, k))
		}
		comeAndGo(fmt.Sprint("n", i), all...)
	}
	if len(d.ended) != mostEnded || len(d.ends) != mostEnded || len(d.found) > 0 || len(d.taken) > 0 {
		t.Errorf("%d are remembered in %d places; %d and %d are found", len(d.ended), len(d.ends), len(d.found), len(d.taken))
	}
	if d.hasEnded(alias(0, 0)) || !d.hasEnded(alias(spaces-1, 0)) || !d.hasEnded(alias(spaces-mostEnded/aliases, 0)) {
		t.Error("not the last ones are remembered")
	}
	comeAndGo("again", alias(spaces-mostEnded/aliases, 0))
	for i := range mostEnded - 1 {
		comeAndGo("more", alias(-1, i))
	}
	if !d.hasEnded(alias(spaces-mostEnded/aliases, 0)) {
		t.Error("an alias that ended again is forgotten")
	}
}
