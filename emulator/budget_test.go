package emulator_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"minibus/emulator"
)

// held returns how many bytes of bodies the process has in memory, and how many of them are of the queue in a namespace, which has
// nothing else.
func (h *house) held(name string) (all, own int64) {
	h.t.Helper()
	b := h.in(name)
	if faults := b.ns.Verify(); len(faults) > 0 {
		h.t.Error(faults)
	}
	return b.q.InMemory().Bodies()
}

// store10K sends messages of 10 KiB.
func (b *broker) store10K(n int) {
	b.t.Helper()
	for i := range n {
		b.sendTexts(fmt.Sprintf("%d %s", i, strings.Repeat("x", 10<<10)))
	}
}

// numbersOf returns what the bodies begin with.
func numbersOf(gs []*got) []string {
	return mapped(gs, func(g *got) string { n, _, _ := strings.Cut(g.body(), " "); return n })
}

func TestBudget_ADeepNamespaceDoesNotStarveASmallOne(t *testing.T) {
	const budget = 2 << 20
	houseBubble(t, emulator.Options{BodyBudget: budget}, []string{"orders", "stocks"}, func(h *house) {
		h.in("orders").store10K(400)
		if all, own := h.held("orders"); all != own || own < budget-20<<10 {
			t.Errorf("alone, the deep one has %d bytes in memory, and the process %d, of %d", own, all, budget)
		}
		h.in("stocks").store10K(80) // more than any queue gets, and less than the half
		synctest.Wait()
		all, small := h.held("stocks")
		if small < 80*10<<10 {
			t.Errorf("the small one has %d bytes in memory: not all of its messages", small)
		}
		_, deep := h.held("orders")
		if deep < budget/2-20<<10 || all != deep+small || all > budget+20<<10 {
			t.Errorf("the deep one has %d bytes in memory, the process %d: with a budget of %d", deep, all, budget)
		}

		// The deep one has kept those that it delivers first.
		if first := h.in("orders").q.InMemory().FirstOnDisk(); first*11<<10 < deep {
			t.Errorf("the deep one has %d bytes in memory, and message %d is on disk only", deep, first)
		}
		want := make([]string, 80)
		for i := range want {
			want[i] = fmt.Sprint(i)
		}
		equalSlices(t, "what the small one delivers", numbersOf(h.in("stocks").drain()), want...)

		// What the small one does not need is the deep one's again.
		h.in("orders").store10K(100)
		if _, deep := h.held("orders"); deep < budget-40<<10 {
			t.Errorf("the deep one has %d bytes in memory at the end, with a budget of %d", deep, budget)
		}
		equal(t, "delivered in all", len(numbersOf(h.in("orders").drain())), 500)
		if all, _ := h.held("orders"); all != 0 {
			t.Errorf("%d bytes are counted without messages", all)
		}
	})
}

func TestBudget_TheProcessIsBoundedAndAllHaveTheirShare(t *testing.T) {
	const budget, n = 1 << 20, 12
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprint("namespace", i)
	}
	houseBubble(t, emulator.Options{BodyBudget: budget}, names, func(h *house) {
		for _, name := range names { // each deep, one after the other
			h.in(name).store10K(60)
			synctest.Wait()
			if all, _ := h.held(name); all > 2*budget {
				t.Errorf("%d bytes are in memory after %s, with a budget of %d", all, name, budget)
			}
		}
		var sum int64
		for _, name := range names {
			all, own := h.held(name)
			if sum += own; own < budget/n-20<<10 || all > 2*budget {
				t.Errorf("%s has %d bytes in memory, and the process %d", name, own, all)
			}
		}
		if all, _ := h.held(names[0]); all != sum {
			t.Errorf("the process counts %d bytes, the namespaces %d", all, sum)
		}
		if err := h.Delete(names[0]); err != nil {
			t.Fatal(err)
		}
		_, own := h.held(names[1])
		if all, _ := h.held(names[1]); all >= sum || all < own {
			t.Errorf("%d bytes are counted without %s, %d with it", all, names[0], sum)
		}
	})
}

// TestBudget_WhatClientsHoldIsNotTaken lets a namespace whose messages are all locked be in the way.
func TestBudget_WhatClientsHoldIsNotTaken(t *testing.T) {
	const budget = 1 << 20
	houseBubble(t, emulator.Options{BodyBudget: budget}, []string{"orders", "stocks"}, func(h *house) {
		orders := h.in("orders")
		orders.store10K(100)
		_, before := h.held("orders")
		gs := orders.receive(100)
		h.in("stocks").store10K(60)
		synctest.Wait()
		all, small := h.held("stocks")
		if _, own := h.held("orders"); own != before || small < budget/2-20<<10 || all > 2*budget {
			t.Errorf("%d bytes are in memory, %d of the small one and %d of what is locked, which were %d", all, small, own, before)
		}
		orders.settle(emulator.Complete, gs...)
		if _, own := h.held("orders"); own != 0 {
			t.Errorf("%d bytes are counted without messages", own)
		}
	})
}
