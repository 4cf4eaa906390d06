package emulator_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
	"minibus/store/storetest"
)

func TestBroker_NamespacesDoNotMix(t *testing.T) {
	houseBubble(t, emulator.Options{}, []string{"orders", "stocks"}, func(h *house) {
		for round := range 2 { // before and after a restart
			orders, stocks := h.in("orders"), h.in("STOCKS")
			orders.sendTexts("a", "b")
			stocks.sendTexts("x")
			equalSlices(t, "numbers in orders", seqsOf(orders.peek())[2*round:], int64(1+2*round), int64(2+2*round))
			equalSlices(t, "numbers in stocks", seqsOf(stocks.peek())[round:], int64(1+round))
			g := orders.one()
			if err := stocks.trySettle(emulator.Complete, nil, g.token()); err == nil {
				t.Error("a lock of one namespace counts in the other")
			}
			orders.settle(emulator.Abandon, g)
			if _, err := h.Default().Entity("q"); err == nil {
				t.Error("the default namespace has their queue")
			}
			h.restart()
		}
		h.in("orders").wantCounts(4, 0, 0, 0)
		equal(t, "in stocks", bodies(h.in("stocks").drain()), "x x")
		if err := h.in("orders").ns.Entities().Delete("q"); err != nil {
			t.Fatal(err)
		}
		h.in("stocks").sendTexts("still there")
		for _, name := range h.names() {
			ns, _ := h.Namespace(name)
			for _, fault := range ns.Verify() {
				t.Errorf("%s: %s", name, fault)
			}
		}
	})
}

func TestBroker_IdsLieInTheRangeOfTheirNamespace(t *testing.T) {
	houseBubble(t, emulator.Options{}, []string{"orders", "stocks"}, func(h *house) {
		for i := range 2 {
			for n, name := range []string{"orders", "stocks"} {
				first, last := emulator.RowsOf(int64(n + 2))
				b := h.in(name)
				path := fmt.Sprintf("q%d", i)
				if _, err := b.ns.Entities().CreateQueue(path, emulator.QueueOptions{}); err != nil {
					t.Fatal(err)
				}
				if id := b.on(path).q.ID(); id < first || id > last || emulator.NamespaceOf(id) != int64(n+2) {
					t.Errorf("%s: an entity has the id %d, the range is %d to %d", name, id, first, last)
				}
			}
			h.restart()
		}
		first, last := emulator.RowsOf(emulator.DefaultNamespaceID)
		if next, _ := emulator.RowsOf(2); first != 1 || next != last+2 || emulator.NamespaceOf(first) != 1 || emulator.NamespaceOf(last) != 1 {
			t.Errorf("the default namespace has the ids %d to %d, the next one begins with %d", first, last, next)
		}
	})
}

func TestBroker_CreatingCostsOneCommit(t *testing.T) {
	houseBubble(t, emulator.Options{}, nil, func(h *house) {
		before := h.m.Commits()
		if _, err := h.Create("orders", emulator.NamespaceOptions{}); err != nil {
			t.Fatal(err)
		}
		equal(t, "commits", h.m.Commits()-before, 1)
	})
}

func TestBroker_NamesOfTheService(t *testing.T) {
	houseBubble(t, emulator.Options{}, nil, func(h *house) {
		long := strings.Repeat("n", 50)
		for name, good := range map[string]bool{
			"orders": true, "Orders-2": true, "o12345": true, "my-ns-sb2": true, long: true,
			"": false, "order": false, long + "n": false, "2orders": false, "-orders": false, "orders-": false, "orders_a": false, "orders.a": false,
			"ordérs": false, "orders a": false, "orders-sb": false, "orders-SB": false, "orders-mgmt": false, "orders/a": false, "orders\n": false,
		} {
			_, err := h.Create(name, emulator.NamespaceOptions{})
			if good && err != nil {
				t.Errorf("%q: %v", name, err)
			}
			if !good {
				wantCode(t, name, err, emulator.CodeArgument)
				wantText(t, name, err, "The specified service namespace '")
			}
		}
	})
}

func TestBroker_SettingsThatNoNamespaceCanHave(t *testing.T) {
	houseBubble(t, emulator.Options{}, []string{"orders"}, func(h *house) {
		rule := func(name string) emulator.AuthorizationRule { return emulator.AuthorizationRule{KeyName: name} }
		many := make([]emulator.AuthorizationRule, emulator.MaxAuthorizationRules+1)
		for i := range many {
			many[i] = rule(fmt.Sprint("rule", i))
		}
		for _, c := range []struct {
			o    emulator.NamespaceOptions
			want emulator.Code
		}{
			{emulator.NamespaceOptions{Port: -1}, emulator.CodeArgument},
			{emulator.NamespaceOptions{Port: 65536}, emulator.CodeArgument},
			{emulator.NamespaceOptions{Aliases: []string{"a", "."}}, emulator.CodeArgument},
			{emulator.NamespaceOptions{Limits: new(emulator.Profile(200))}, emulator.CodeArgument},
			{emulator.NamespaceOptions{Policies: []emulator.AuthorizationRule{rule("")}}, emulator.CodeArgument},
			{emulator.NamespaceOptions{Policies: []emulator.AuthorizationRule{rule("a"), rule("A")}}, emulator.CodeArgument},
			{emulator.NamespaceOptions{Policies: []emulator.AuthorizationRule{rule(strings.Repeat("x", 257))}}, emulator.CodeArgument},
			{emulator.NamespaceOptions{Policies: many}, emulator.CodeArgument},
		} {
			_, err := h.Create("stocks", c.o)
			wantCode(t, fmt.Sprintf("create with %+v", c.o), err, c.want)
			wantCode(t, fmt.Sprintf("update to %+v", c.o), h.Update("orders", c.o), c.want)
		}
		equalSlices(t, "namespaces", h.names(), "orders", "sbemulatorns")
		equal(t, "policies", len(h.in("orders").ns.Options().Policies), 1)
	})
}

func TestBroker_WhatOneHasNoOtherGets(t *testing.T) {
	houseBubble(t, emulator.Options{Name: "default-one"}, nil, func(h *house) {
		h.create("orders", emulator.NamespaceOptions{Aliases: []string{"orders.example.org"}, Port: 5701})
		h.create("stocks", emulator.NamespaceOptions{})
		refused := func(what, name string, o emulator.NamespaceOptions) {
			t.Helper()
			_, err := h.Create(name, o)
			wantCode(t, what, err, emulator.CodeAlreadyExists)
		}
		refused("a name", "ORDERS", emulator.NamespaceOptions{})
		refused("the default's name", "Default-One", emulator.NamespaceOptions{})
		alias, port := emulator.NamespaceOptions{Aliases: []string{"new", "Orders.Example.Org."}}, emulator.NamespaceOptions{Port: 5701}
		refused("an alias", "others", alias)
		refused("a port", "others", port)
		wantCode(t, "update to an alias", h.Update("stocks", alias), emulator.CodeAlreadyExists)
		wantCode(t, "update to a port", h.Update("stocks", port), emulator.CodeAlreadyExists)

		// What a refused one had besides is free, and what a changed one no longer has.
		others := h.create("others", emulator.NamespaceOptions{Aliases: []string{"new"}})
		equal(t, "its id, which a refused one does not use up", emulator.NamespaceOf(others.q.ID()), 4)
		if err := h.Update("orders", emulator.NamespaceOptions{Aliases: []string{"orders.example.org"}, Port: 5702}); err != nil {
			t.Fatal(err)
		}
		if err := h.Update("stocks", port); err != nil {
			t.Fatal(err)
		}
		ns, err := h.Find("", 5701)
		if err != nil || ns.Name() != "stocks" {
			t.Errorf("port 5701 means %v, %v", ns, err)
		}
		if err := h.Delete("stocks"); err != nil {
			t.Fatal(err)
		}
		h.create("Stocks", port)
	})
}

func TestBroker_WhatIsBeingCreatedIsTakenAndNotFound(t *testing.T) {
	houseBubble(t, emulator.Options{}, []string{"stocks"}, func(h *house) {
		h.m.Pause()
		o := emulator.NamespaceOptions{Aliases: []string{"alias"}, Port: 5701}
		done := newOutcome()
		go func() { _, err := h.Create("orders", o); done <- err }()
		synctest.Wait()
		_, err := h.Create("Orders", emulator.NamespaceOptions{})
		wantCode(t, "create the same", err, emulator.CodeAlreadyExists)
		_, err = h.Create("others", emulator.NamespaceOptions{Port: 5701})
		wantCode(t, "create with its port", err, emulator.CodeAlreadyExists)
		_, err = h.Namespace("orders")
		wantCode(t, "find by name", err, emulator.CodeNotFound)
		for _, host := range []string{"alias", ""} {
			if ns, err := h.Find(host, 5701); err != nil || ns != h.Default() {
				t.Errorf("%q means %v, %v", host, ns, err)
			}
		}
		equalSlices(t, "namespaces", h.names(), "sbemulatorns", "stocks")
		h.m.FailNext(1, errDisk)
		h.m.Resume()
		equal(t, "create", <-done, errDisk)
		synctest.Wait()
		h.create("others", emulator.NamespaceOptions{Port: 5701})
		h.create("orders", emulator.NamespaceOptions{Aliases: []string{"alias"}})
		h.restart()
		equalSlices(t, "namespaces after a restart", h.names(), "orders", "others", "sbemulatorns", "stocks")
	})
}

func TestBroker_EachNamespaceGetsARootPolicyOfItsOwn(t *testing.T) {
	houseBubble(t, emulator.Options{}, []string{"orders", "stocks"}, func(h *house) {
		seen := map[string]bool{}
		for _, name := range []string{"orders", "stocks"} {
			policies := h.in(name).ns.Options().Policies
			equal(t, "policies", len(policies), 1)
			p := policies[0]
			equal(t, "name", p.KeyName, emulator.RootPolicy)
			equalSlices(t, "rights", p.Rights, "Listen", "Manage", "Send")
			for _, key := range []string{p.PrimaryKey, p.SecondaryKey} {
				if raw, err := base64.StdEncoding.DecodeString(key); err != nil || len(raw) != 32 || seen[key] {
					t.Errorf("%s: the key %q", name, key)
				}
				seen[key] = true
			}
			h.restart()
			equal(t, "the key after a restart", h.in(name).ns.Options().Policies[0].PrimaryKey, p.PrimaryKey)
		}
		own := emulator.AuthorizationRule{KeyName: "mine", Rights: []string{"Send"}, PrimaryKey: "a", SecondaryKey: "b"}
		h.create("others", emulator.NamespaceOptions{Policies: []emulator.AuthorizationRule{own}})
		equal(t, "policies of one created with its own", fmt.Sprint(h.in("others").ns.Options().Policies), fmt.Sprint([]emulator.AuthorizationRule{own}))
		equal(t, "policies of the default one", len(h.Default().Options().Policies), 0)
	})
}

func TestBroker_AnUpdateCountsAtOnceAndAfterARestart(t *testing.T) {
	houseBubble(t, emulator.Options{Limits: emulator.ProfileStandard}, []string{"orders"}, func(h *house) {
		ns := h.in("orders").ns
		topic, err := ns.Entities().CreateTopic("t", emulator.TopicOptions{})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "limits before", ns.Profile(), emulator.ProfileStandard)
		equal(t, "largest message before", topic.MaxMessageSize(), 256<<10)
		o := ns.Options()
		o.Limits = new(emulator.ProfilePremium)
		h.m.FailNext(1, errDisk)
		equal(t, "an update that fails", h.Update("orders", o), errDisk)
		equal(t, "limits after it", ns.Profile(), emulator.ProfileStandard)
		synctest.Wait()
		o.Policies = append(o.Policies[:1:1], emulator.AuthorizationRule{KeyName: "second"})
		if err := h.Update("Orders", o); err != nil {
			t.Fatal(err)
		}
		equal(t, "largest message", topic.MaxMessageSize(), 1<<20)
		h.restart()
		ns = h.in("orders").ns
		equal(t, "limits", ns.Profile(), emulator.ProfilePremium)
		equal(t, "limits of the default one", h.Default().Profile(), emulator.ProfileStandard)
		equal(t, "name", ns.Name(), "orders")
		equal(t, "second policy", ns.Options().Policies[1].KeyName, "second")
		wantCode(t, "update of another", h.Update("other", o), emulator.CodeNotFound)
		if err := h.Update(h.Default().Name(), emulator.NamespaceOptions{Limits: new(emulator.ProfileRelaxed)}); err != nil {
			t.Fatal(err)
		}
		h.restart()
		equal(t, "limits of the default one", h.Default().Profile(), emulator.ProfileRelaxed)
	})
}

func TestBroker_AClockIsANamespaces(t *testing.T) {
	houseBubble(t, emulator.Options{}, []string{"orders"}, func(h *house) {
		own := h.create("stocks", emulator.NamespaceOptions{})
		orders := h.in("orders")
		for _, b := range []*broker{own, orders} {
			b.send(withTTL("expires", time.Minute))
		}
		own.advance(time.Hour)
		equal(t, "in the other namespace", bodies(orders.peek()), "expires")
		equal(t, "in its own", len(own.peek()), 0)
		if err := h.Update("stocks", emulator.NamespaceOptions{}); err != nil {
			t.Fatal(err)
		}
		equal(t, "time after an update", own.ns.Now()-orders.ns.Now(), time.Hour.Milliseconds())
		h.Quiesce()
	})
}

func TestBroker_TheNameOfTheDefaultMayNotBeAnothers(t *testing.T) {
	houseBubble(t, emulator.Options{}, []string{"orders"}, func(h *house) {
		h.Close()
		h.options.Name = "Orders"
		_, err := emulator.OpenBroker(h.m, h.options)
		wantCode(t, "open", err, emulator.CodeAlreadyExists)
		h.options.Name = "another"
		h.open()
		equalSlices(t, "namespaces", h.names(), "another", "orders")
	})
}

func TestBroker_ManyComeAndGoAtOnce(t *testing.T) {
	houseBubble(t, emulator.Options{}, nil, func(h *house) {
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() {
				name := fmt.Sprintf("namespace%d", i)
				ns, err := h.Create(name, emulator.NamespaceOptions{Port: 6000 + i})
				if err != nil {
					t.Errorf("create: %v", err)
					return
				}
				for range 3 {
					if _, err := ns.Entities().CreateQueue("q", emulator.QueueOptions{}); err != nil {
						t.Errorf("create a queue: %v", err)
					}
					if err := ns.Entities().Delete("q"); err != nil {
						t.Errorf("delete a queue: %v", err)
					}
				}
				if found, err := h.Find(name+".localhost", 0); err != nil || found != ns {
					t.Errorf("find: %v", err)
				}
				if err := h.Delete(name); err != nil {
					t.Errorf("delete: %v", err)
				}
			})
		}
		all.Wait()
		equalSlices(t, "namespaces", h.names(), "sbemulatorns")
		records, _ := h.m.Namespaces()
		equal(t, "stored namespaces", len(records), 1)
		equal(t, "next id", h.m.NextNamespace(), 52)
	})
}

// TestBroker_OpensWhatWasOneNamespace lets a broker have what a namespace by itself has stored.
func TestBroker_OpensWhatWasOneNamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := storetest.NewMemory()
		ns, err := emulator.Open(m, emulator.Options{})
		if err != nil {
			t.Fatal(err)
		}
		q, err := ns.Entities().CreateQueue("q", emulator.QueueOptions{})
		if err != nil {
			t.Fatal(err)
		}
		b := &broker{t: t, ns: ns, q: q.Entity}
		b.sendTexts("a")
		id := b.one().Properties
		ns.Close()
		h := &house{t: t, m: m.Reopen()}
		h.open()
		defer h.close()
		g := h.in("sbemulatorns").one()
		equal(t, "body", g.body(), "a")
		equal(t, "message id", fmt.Sprint(g.Properties.MessageID), fmt.Sprint(id.MessageID))
	})
}
