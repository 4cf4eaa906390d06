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
	for _, of := range []reflect.Type{reflect.TypeFor[*sbtest.Server](), reflect.TypeFor[*sbtest.Session](), reflect.TypeFor[*sbtest.Held]()} {
		for i := range of.NumMethod() {
			if name := of.Method(i).Name; name != "Domain" && name != "Find" && !strings.Contains(examples.String(), "."+name+"(") {
				t.Errorf("no example calls %s", name)
			}
		}
	}
}
