package server

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"minibus/config"
	"minibus/emulator"
)

// manyNamespaces returns a configuration with n namespaces of ten queues each, besides the default one, and a database on disk.
func manyNamespaces(b *testing.B, n int) Config {
	c := Config{NoNetwork: true, Topology: &config.Topology{Namespace: config.DefaultNamespace}}
	c.Settings.Data = filepath.Join(b.TempDir(), "bus.db")
	for i := range n {
		one := &config.Topology{Namespace: fmt.Sprintf("tenant-%05d", i)}
		for j := range 10 {
			one.Entities = append(one.Entities, emulator.EntityConfig{Path: fmt.Sprint("queue-", j), Queue: &emulator.QueueOptions{}})
		}
		c.Topology.Others = append(c.Topology.Others, one)
	}
	return c
}

// startNamespaces starts a server and returns a function that ends it.
func startNamespaces(b *testing.B, c Config) (a *Server, end func()) {
	a, err := Start(context.Background(), c)
	if err != nil {
		b.Fatal(err)
	}
	return a, func() {
		if err := a.Close(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkNamespacesStart starts a server whose database has a thousand namespaces with ten queues each.
func BenchmarkNamespacesStart(b *testing.B) {
	c := manyNamespaces(b, 1000)
	_, end := startNamespaces(b, c)
	end()
	c.Topology.Others = nil
	for b.Loop() {
		_, end := startNamespaces(b, c)
		b.StopTimer()
		end()
		b.StartTimer()
	}
}

// BenchmarkNamespacesCreateAndDrop makes a namespace with ten queues and deletes it, beside no others and beside a thousand.
func BenchmarkNamespacesCreateAndDrop(b *testing.B) {
	for _, n := range []int{0, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			a, end := startNamespaces(b, manyNamespaces(b, n))
			defer end()
			entities := manyNamespaces(b, 1).Topology.Others[0].Entities
			for _, with := range []struct {
				name     string
				entities []emulator.EntityConfig
			}{{"empty", nil}, {"ten-queues", entities}} {
				b.Run(with.name, func(b *testing.B) {
					for b.Loop() {
						ns, err := a.CreateNamespace("", emulator.NamespaceOptions{})
						if err == nil {
							err = ns.Configuration().Ensure(with.entities)
						}
						if err == nil {
							err = a.DeleteNamespace(ns.Name())
						}
						if err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		})
	}
}
