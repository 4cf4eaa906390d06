package emulator_test

import (
	"fmt"
	"runtime"
	"testing"

	"minibus/emulator"
	"minibus/store/storetest"
)

// BenchmarkNamespaceAtRest reports what a namespace with ten entities costs: eight queues, a topic and a subscription. The store in memory
// keeps their settings too, which is measured before.
func BenchmarkNamespaceAtRest(b *testing.B) {
	for b.Loop() {
		m := storetest.NewMemory()
		broker, err := emulator.OpenBroker(m, emulator.Options{})
		if err != nil {
			b.Fatal(err)
		}
		const n = 1000
		for i := range n {
			createTen(b, broker, fmt.Sprintf("namespace%d", i))
		}
		broker.Close()
		m = m.Reopen()
		before, goroutines := heapBytes(), runtime.NumGoroutine()
		if broker, err = emulator.OpenBroker(m, emulator.Options{}); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(heapBytes()-before)/n, "B/namespace")
		b.ReportMetric(float64(runtime.NumGoroutine()-goroutines), "goroutines")
		broker.Close()
		_ = m.Close()
	}
}

// BenchmarkCreateAndDrop creates a namespace with ten entities and deletes it.
func BenchmarkCreateAndDrop(b *testing.B) {
	m := storetest.NewMemory()
	broker, err := emulator.OpenBroker(m, emulator.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		createTen(b, broker, "orders")
		if err := broker.Delete("orders"); err != nil {
			b.Fatal(err)
		}
	}
	broker.Close()
	_ = m.Close()
}

func createTen(b *testing.B, broker *emulator.Broker, name string) {
	ns, err := broker.Create(name, emulator.NamespaceOptions{})
	if err != nil {
		b.Fatal(err)
	}
	list := []emulator.EntityConfig{{Path: "t", Topic: &emulator.TopicOptions{Subscriptions: named("s")}}}
	for i := range 8 {
		list = append(list, emulator.EntityConfig{Path: fmt.Sprint("queue", i), Queue: &emulator.QueueOptions{}})
	}
	if err := ns.Configuration().Ensure(list); err != nil {
		b.Fatal(err)
	}
}

// heapBytes returns the bytes in use.
func heapBytes() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
