package sbtest_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"minibus/sbtest"
)

// TestEveryControlHasAnExample finds a method of a server that no example calls.
func TestEveryControlHasAnExample(t *testing.T) {
	files, err := filepath.Glob("example*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var examples strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		examples.Write(text)
	}
	for _, of := range []any{&sbtest.Server{}, &sbtest.Session{}, &sbtest.Held{}} {
		for i := range reflect.TypeOf(of).NumMethod() {
			name := reflect.TypeOf(of).Method(i).Name
			onlyHere := name == "Domain" || name == "Find" // of export_test.go
			if !onlyHere && !strings.Contains(examples.String(), "."+name+"(") {
				t.Errorf("no example calls %s", name)
			}
		}
	}
}

// TestTheBorderHasOnlyOwnTypes walks what tests of users can name: the domain may change without breaking them.
func TestTheBorderHasOnlyOwnTypes(t *testing.T) {
	own := reflect.TypeFor[sbtest.Server]().PkgPath()
	module := strings.TrimSuffix(own, "sbtest")
	seen := make(map[reflect.Type]bool)
	var walk func(of reflect.Type, from string)
	walk = func(of reflect.Type, from string) {
		if seen[of] {
			return
		}
		seen[of] = true
		if path := of.PkgPath(); path != own && strings.HasPrefix(path, module) {
			t.Errorf("%s has the type %s", from, of)
			return
		}
		for i := range of.NumMethod() {
			if m := of.Method(i); m.IsExported() && m.Name != "Domain" {
				walk(m.Type, of.String()+"."+m.Name)
			}
		}
		switch of.Kind() {
		case reflect.Func:
			for i := range of.NumIn() {
				walk(of.In(i), from)
			}
			for i := range of.NumOut() {
				walk(of.Out(i), from)
			}
		case reflect.Struct:
			for i := range of.NumField() {
				if f := of.Field(i); f.IsExported() {
					walk(f.Type, of.String()+"."+f.Name)
				}
			}
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			walk(of.Elem(), from)
		}
	}
	for _, f := range []any{
		sbtest.Start, sbtest.ConfigJSON, sbtest.Holds, sbtest.Happened, sbtest.Exactly, sbtest.AtLeast, sbtest.Within,
		sbtest.WithLimits, sbtest.WithClock, sbtest.WithLogger, sbtest.WithTrace, sbtest.Queue{}, sbtest.Topic{},
	} {
		walk(reflect.TypeOf(f), "a function")
	}
	if len(seen) < 50 {
		t.Errorf("walked only %d types", len(seen))
	}
}
