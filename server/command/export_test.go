package command

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"minibus/config"
	"minibus/internal/tlsca"
)

// rich has every property of a Config.json, sorted as an export is.
const rich = "../../export/testdata/rich.json"

// connectionTo returns a connection string as a user would paste it.
func connectionTo(port int, more string) string {
	return fmt.Sprintf("Endpoint=sb://localhost:%d/;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;%s", port, more)
}

func exported(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr output
	if err := Run(context.Background(), append([]string{"export"}, args...), nil, &stdout, &stderr); err != nil {
		t.Fatalf("export: %v", err)
	}
	if text := stdout.String() + stderr.String(); strings.Contains(text, "SAS_KEY_VALUE") {
		t.Errorf("the key is shownByExport:\n%s", text)
	}
	return stdout.String()
}

func topology(t *testing.T, file string) *config.Topology {
	t.Helper()
	parsed, report, err := config.Load([]string{file}, config.ProfileRelaxed)
	if err != nil || report.Err() != nil {
		t.Fatal(err, report.Err())
	}
	return parsed
}

func TestExportMakesTheSameNamespaceAgain(t *testing.T) {
	dir := t.TempDir()
	first := run(t, "--config", rich, "--data", filepath.Join(dir, "bus.db"))
	file := filepath.Join(dir, "Config.json")
	exported(t, connectionTo(first.ports.TLS, ""), "--ca-file", filepath.Join(dir, tlsca.CertificateFile), "--out", file)
	want, got := topology(t, rich), topology(t, file)
	if got.Namespace != want.Namespace || len(got.Entities) != len(want.Entities) {
		t.Fatalf("namespace %s with %d entities", got.Namespace, len(got.Entities))
	}
	for i := range want.Entities {
		if !reflect.DeepEqual(got.Entities[i], want.Entities[i]) {
			t.Errorf("%s:\ngot  %s\nwant %s", want.Entities[i].Path, shownByExport(got.Entities[i]), shownByExport(want.Entities[i]))
		}
	}
	second := run(t, "--config", file, "--ephemeral")
	if s := second.stderr.String(); strings.Count(s, "level=WARN") != strings.Count(s, "Azure would refuse") {
		t.Errorf("the export gives warnings:\n%s", s)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if again := exported(t, connectionTo(second.ports.AMQP, "UseDevelopmentEmulator=true")); again != string(data) {
		t.Errorf("the second export differs:\n%s\nfrom\n%s", again, data)
	}
}

// shownByExport prints an entity, with pointers followed.
func shownByExport(v any) string {
	var b bytes.Buffer
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer, reflect.Interface:
			if !v.IsNil() {
				walk(v.Elem())
			}
		case reflect.Struct:
			for i := range v.NumField() {
				if !v.Field(i).IsZero() {
					b.WriteString(v.Type().Field(i).Name + ":{")
					walk(v.Field(i))
					b.WriteString("} ")
				}
			}
		case reflect.Slice:
			for i := range v.Len() {
				walk(v.Index(i))
			}
		default:
			fmt.Fprintf(&b, "%#v ", v.Interface())
		}
	}
	walk(reflect.ValueOf(v))
	return b.String()
}

func TestExportReadsTheConnectionStringFromStandardInput(t *testing.T) {
	for text, want := range map[string]string{
		"Endpoint=sb://h;SharedAccessKeyName=n;SharedAccessKey=c2VjcmV0\nrest": "",
		"\"Endpoint=sb://h;SharedAccessKeyName=n;SharedAccessKey=c2VjcmV0\"":   "",
		"":                             "needs a connection string",
		"Endpoint=sb://h\n":            "needs quotation marks",
		"c2VjcmV0;x=c2VjcmV0":          "a part has no '='",
		"Endpoint=c2VjcmV0;x=c2VjcmV0": "Endpoint is missing",
	} {
		c, err := exportConnection("-", "", strings.NewReader(text))
		switch {
		case want == "" && (err != nil || c.Connection.Key != "c2VjcmV0"):
			t.Errorf("%q: %+v, %v", text, c, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "c2VjcmV0")):
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestExportExplainsWhatIsWrong(t *testing.T) {
	p := run(t, "--ephemeral")
	for _, tt := range []struct {
		args []string
		want string
	}{
		{nil, "needs a connection string"},
		{[]string{"Endpoint=sb://h"}, "quotation marks"},
		{[]string{connectionTo(p.ports.TLS, "")}, "--ca-file"},
		{[]string{connectionTo(p.ports.TLS, ""), "--ca-file", rich}, "no certificate"},
		{[]string{connectionTo(p.ports.TLS, ""), "--ca-file", filepath.Join(t.TempDir(), "none")}, "read --ca-file"},
		{[]string{connectionTo(p.ports.HTTP, "UseDevelopmentEmulator=true;EntityPath=none")}, "there is no queue or topic of that name"},
		{[]string{connectionTo(p.ports.HTTP, "UseDevelopmentEmulator=true;EntityPath=../x")}, "is no name"},
		{[]string{connectionTo(p.ports.HTTP, "UseDevelopmentEmulator=true"), "--format", "yaml"}, "allowed: config, bicep, terraform"},
		{[]string{connectionTo(p.ports.HTTP, "UseDevelopmentEmulator=true"), "--out", filepath.Join(t.TempDir(), "no", "dir")}, "no does not exist: make it, or correct --out"},
		{[]string{connectionTo(p.ports.HTTP, "UseDevelopmentEmulator=true"), "--out", t.TempDir()}, "is a directory: name a file in it with --out"},
		{[]string{"./Config.json"}, "the file to write is named with --out"},
		{[]string{rich}, "the file to write is named with --out"},
	} {
		var stdout output
		err := Run(context.Background(), append([]string{"export"}, tt.args...), nil, &stdout, &output{})
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "SAS_KEY") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %v", tt.args, err)
		}
		if stdout.String() != "" {
			t.Errorf("%v: something was written", tt.args)
		}
	}
	if err := p.end(t); err != nil {
		t.Error(err)
	}
	err := Run(context.Background(), []string{"export", connectionTo(p.ports.HTTP, "UseDevelopmentEmulator=true")}, nil, &output{}, &output{})
	if err == nil || runtime.GOOS != "windows" && !strings.Contains(err.Error(), "nothing listens there") {
		t.Errorf("a stopped Minibus: %v", err)
	}
}

func TestExportOfOneEntity(t *testing.T) {
	p := run(t, "--ephemeral", "--config", rich)
	for path, want := range map[string][2]string{
		"A/B.C": {`"Name": "a/b.c"`, `"dup"`}, "events/Subscriptions/ALL": {`"all"`, `"rules"`},
	} {
		text := exported(t, connectionTo(p.ports.HTTP, "UseDevelopmentEmulator=true;EntityPath="+path))
		if !strings.Contains(text, want[0]) || strings.Contains(text, want[1]) {
			t.Errorf("%s:\n%s", path, text)
		}
	}
}
