package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// lines returns what minibus hosts prints: the command that appends the lines, and the lines.
func lines(line, hosts string) string {
	return "# begin of Minibus: delete these lines when you need them no longer\n" +
		"# append them on Linux and macOS: " + line + " | sudo tee -a /etc/hosts\n" +
		"# append them on Windows, in PowerShell as administrator: " + line + " | Add-Content $env:SystemRoot\\System32\\drivers\\etc\\hosts\n" +
		hosts + "# end of Minibus\n"
}

func TestHostsPrints(t *testing.T) {
	file := filepath.Join(t.TempDir(), "Config.json")
	text := `{"UserConfig": {"Namespaces": [
		{"Name": "Shop-1", "Aliases": ["bus.example.org"], "Queues": [{"Name": "q"}]}, {"Name": "depot-1", "Queues": [{"Name": "q"}]}],
		"Logging": {"Type": "File"}}}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	const shop = "127.0.0.1 shop.servicebus.windows.net\n"
	for _, tt := range []struct {
		args []string
		want string
	}{
		{nil, lines("minibus hosts", "127.0.0.1 sbemulatorns.servicebus.windows.net\n")},
		{[]string{"shop"}, lines("minibus hosts shop", shop)},
		{[]string{"shop", "SHOP", "--host", "all"}, lines("minibus hosts shop SHOP --host all", shop)},
		{[]string{"shop.servicebus.chinacloudapi.cn", "--host", "127.0.0.2"},
			lines("minibus hosts shop.servicebus.chinacloudapi.cn --host 127.0.0.2", "127.0.0.2 shop.servicebus.chinacloudapi.cn\n")},
		{[]string{"--config", file, "extra"}, lines("minibus hosts extra --config "+file, "127.0.0.1 bus.example.org\n"+
			"127.0.0.1 depot-1.servicebus.windows.net\n127.0.0.1 extra.servicebus.windows.net\n127.0.0.1 shop-1.servicebus.windows.net\n")},
		{[]string{"--compose", "shop", "depot-1"}, "# for the service \"servicebus\": docker compose -f compose.yaml -f THIS-FILE up\n" +
			"services:\n  servicebus:\n    networks:\n      default:\n        aliases:\n" +
			"          - depot-1.servicebus.windows.net\n          - shop.servicebus.windows.net\n"},
	} {
		if got, _, err := runLine(t, nil, append([]string{"hosts"}, tt.args...)...); err != nil || got != tt.want {
			t.Errorf("minibus hosts %q prints\n%s, %v; want\n%s", tt.args, got, err, tt.want)
		}
	}
}

// TestHostsRefuses what could not stand in a hosts file, or was meant otherwise.
func TestHostsRefuses(t *testing.T) {
	for want, args := range map[string][]string{
		`"a b" is neither the name of a namespace nor a host`: {"a b"},
		"is neither the name of a namespace nor a host":       {"a\n10.0.0.1"},
		"minibus hosts --config Config.json":                  {"Config.json"},
		"missing.json":                                        {"--config", "missing.json"},
		"there is no flag --write":                            {"--write", "shop"},
	} {
		out, _, err := runLine(t, nil, append([]string{"hosts"}, args...)...)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") || out != "" {
			t.Errorf("minibus hosts %q: %v, %s; want %s", args, err, out, want)
		}
	}
}
