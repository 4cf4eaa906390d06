package server_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/sbtest"
)

// TestShop is the one of docs/namespaces.md.
func TestShop(t *testing.T) {
	bus := sbtest.Start(t)
	for _, name := range []string{"one", "another"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := bus.NewNamespace(t, sbtest.Queue{Name: "orders"})
			client, err := azservicebus.NewClientFromConnectionString(ns.ConnectionString(), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close(t.Context())
			// send to orders, receive from it
		})
	}
}

func TestPageOfNamespaces_ShowsTestShop(t *testing.T) {
	const file = "namespaces_example_test.go"
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../docs/namespaces.md")
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range parsed.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "TestShop" {
			text := string(source[set.Position(f.Pos()).Offset:set.Position(f.End()).Offset])
			if !strings.Contains(string(page), "    "+strings.ReplaceAll(text, "\n", "\n    ")) {
				t.Errorf("the page does not have\n%s", text)
			}
			return
		}
	}
	t.Error("there is no TestShop")
}
