package emulator_test

import (
	"fmt"
	"strings"
	"testing"

	"minibus/emulator"
)

func TestBroker_AliasesThatNoNamespaceCanHave(t *testing.T) {
	o := emulator.Options{NamespaceSuffixes: []string{".bus.test"}}
	houseBubble(t, o, []string{"orders"}, func(h *house) {
		long := strings.Repeat(strings.Repeat("a", 62)+".", 4)
		for alias, good := range map[string]bool{
			"a": true, "my_host.Example-1.org": true, "bus.test": true, "notlocalhost": true, "x.privatelink.test.": true, long: true,
			"": false, ".": false, "x\"y\nz": false, "*": false, "*.test": false, "a b": false, "a..b": false, "a:5672": false, "-a.test": false, "a-": false,
			"höst": false, strings.Repeat("a", 64): false, long + "bc": false, strings.Repeat("a", 300_000): false,
			"localhost": false, "LocalHost.": false, "127.0.0.1": false, "::1": false, "[::1]": false, "fd00::7": false, "10.0.0.7": false, "127.1": false, "0x7f000001": false,
			"orders.localhost": false, "stocks.localhost": false, "Orders.ServiceBus.Windows.net.": false, "a.b.bus.test": false,
		} {
			ns := emulator.NamespaceOptions{Aliases: []string{"good.test", alias}}
			_, err := h.Create("stocks", ns)
			update := h.Update("orders", ns)
			if good {
				if err != nil {
					t.Errorf("%q: %v", alias, err)
					continue
				}
				if err := h.Delete("stocks"); err != nil {
					t.Fatal(err)
				}
				continue
			}
			what := fmt.Sprintf("the alias %.30q", alias)
			wantCode(t, what, err, emulator.CodeArgument)
			wantCode(t, "update to "+what, update, emulator.CodeArgument)
			wantText(t, what, err, fmt.Sprintf("The alias %.60q", alias))
		}
	})
}

func TestBroker_ANamespaceHasAtMost100Aliases(t *testing.T) {
	houseBubble(t, emulator.Options{}, nil, func(h *house) {
		var o emulator.NamespaceOptions
		for i := range emulator.MaxAliases {
			o.Aliases = append(o.Aliases, fmt.Sprintf("a%d.test", i))
		}
		h.create("orders", o)
		o.Aliases = append(o.Aliases, "more.test")
		_, err := h.Create("stocks", o)
		wantCode(t, "101 aliases", err, emulator.CodeArgument)
	})
}

// TestBroker_PoliciesFitIntoConnectionStrings, or no client could use them.
func TestBroker_PoliciesFitIntoConnectionStrings(t *testing.T) {
	houseBubble(t, emulator.Options{}, []string{"orders"}, func(h *house) {
		for _, bad := range []string{"q;z", "q\nz", "q\"z", "q'z", "q z", "q\u00a0z", "qz\x00"} {
			for _, p := range []emulator.AuthorizationRule{{KeyName: bad}, {KeyName: "shop", PrimaryKey: bad}, {KeyName: "shop", SecondaryKey: bad}} {
				o := emulator.NamespaceOptions{Policies: []emulator.AuthorizationRule{p}}
				_, err := h.Create("stocks", o)
				wantCode(t, fmt.Sprintf("create with %+v", p), err, emulator.CodeArgument)
				wantText(t, "its text", err, fmt.Sprintf("authorization rule %q", p.KeyName))
				wantCode(t, fmt.Sprintf("update to %+v", p), h.Update("orders", o), emulator.CodeArgument)
				if p.KeyName == "shop" && strings.Contains(err.Error(), bad) {
					t.Errorf("the error shows the key: %v", err)
				}
			}
		}
		_, err := h.Create("stocks", emulator.NamespaceOptions{Policies: []emulator.AuthorizationRule{{KeyName: "a=c"}}})
		wantCode(t, "a name with =", err, emulator.CodeArgument)
		h.create("stocks", emulator.NamespaceOptions{Policies: []emulator.AuthorizationRule{{KeyName: "Shop_1.a-b", PrimaryKey: "a2V5+/=="}}})
	})
}

// TestBroker_WhatANamespaceAlreadyHasStays: what was stored under other rules, or before a suffix was chosen, does not refuse another change.
func TestBroker_WhatANamespaceAlreadyHasStays(t *testing.T) {
	houseBubble(t, emulator.Options{}, nil, func(h *house) {
		putNamespace(t, h.m, 2, "orders", emulator.NamespaceOptions{Aliases: []string{"10.0.0.7"}, Policies: []emulator.AuthorizationRule{{KeyName: "a b"}}})
		h.restart()
		o := h.Namespaces()[0].Options()
		o.Port = 5701
		if err := h.Update("orders", o); err != nil {
			t.Error(err)
		}
	})
}
