package command

import (
	"context"
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"minibus/config"
)

// run runs a command line that does not start a server, and returns what it prints and its error with its exit code.
func runLine(t *testing.T, environ []string, args ...string) (out string, code int, err error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // a server that starts by mistake ends at once
	var stdout output
	err = Run(ctx, args, environ, &stdout, &output{})
	var coded interface{ ExitCode() int }
	switch {
	case errors.As(err, &coded):
		code = coded.ExitCode()
	case err != nil:
		code = 1
	}
	return stdout.String(), code, err
}

func TestMistakesOnTheCommandLineAreOneClearLine(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("notes.txt", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ line, env, want string }{
		{"--amqp-prot 1", "", "there is no flag --amqp-prot, did you mean --amqp-port?"},
		{"--xyzzyxyzzy", "", "there is no flag --xyzzyxyzzy, see minibus --help"},
		{"-x", "", "there is no flag -x, see minibus --help"},
		{"-o json", "", "there is no flag -o, see minibus --help"},
		{"--amqp-port", "", "--amqp-port needs a value: --amqp-port PORT (AMQP; like every port"},
		{"serve --root-key", "", "--root-key needs a value: --root-key KEY (key of RootManageSharedAccessKey"},
		{"--root-key=", "", "--root-key: found nothing; give a key, such as what openssl rand -base64 32 prints, or leave it out"},
		{"export --namespace=", "", "--namespace: found nothing; give the name of a namespace, or leave it out"},
		{"--ca-file x", "", "--ca-file belongs to the command export"},
		{"--password x", "", "--password belongs to the command cert export"},
		{"queue ls --password x", "", "--password belongs to the command cert export"},
		{"Config.json", "", `there is no command "Config.json", a configuration is given with a flag: minibus --config Config.json`},
		{"Config.json --trace", "", `minibus --config Config.json`},
		{"serve my/Config.JSON", "", `serve takes no argument "my/Config.JSON", a configuration is given with a flag: minibus --config my/Config.JSON`},
		{"bus.db", "", `there is no command "bus.db", a database is given with a flag: minibus --data bus.db`},
		{"notes.txt", "", `there is no command "notes.txt", a file is given with a flag: --config for a configuration, --data for a database`},
		{"it's.json", "", "minibus --config FILE"},
		{"./settings", "", `a file is given with a flag: --config for a configuration`},
		{"config Config.json", "", "config needs a second word: minibus config check Config.json"},
		{"help exprt", "", `there is no command "exprt", did you mean export?`},
		{"--amqp-port 70000", "", `--amqp-port: found "70000"; allowed: a port from 1 to 65535, 0 for a free one, off for none`},
		{"healthcheck", "MINIBUS_AMQP_PORT=x", `MINIBUS_AMQP_PORT: found "x"`},
		{"hosts --compose=maybe", "", "--compose"},
		{"hosts", "MINIBUS_COMPOSE=maybe", `MINIBUS_COMPOSE: found "maybe"`},
		{"serv", "", `there is no command "serv", did you mean serve?`},
		{"sned orders hi", "", `there is no command "sned", did you mean send?`},
		{"sned orders hi -p a=b", "", `there is no command "sned", did you mean send?`},
		{"Endpoint=sb://x", "", "the first word is no command; a connection string belongs to minibus export"},
		{"config", "", "config needs a second word: config check|print|diff|apply"},
		{"config chek f", "", "did you mean check?"},
		{"config print a b", "", "read the configuration: a does not exist"},
		{"version 2", "", `version takes no argument "2"`},
		{"cert import", "", `cert takes no argument "import"`},
		{"cret", "", "did you mean cert?"},
		{"export a b", "", "takes one connection string; put it in quotation marks"},
		{"doctor orders", "", `doctor takes no argument "orders"; flags of the server come after --`},
		{"doctor -- queue", "", `doctor: found the word "queue" after --; only flags of the server belong there`},
		{"doctor -- --no-flag", "", "doctor: there is no flag --no-flag"},
	} {
		out, code, err := runLine(t, []string{tt.env}, strings.Fields(tt.line)...)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") || code != 2 || out != "" {
			t.Errorf("%q %s: code %d, %v %s", tt.line, tt.env, code, err, out)
		}
	}
}

// TestWrongConnectionStringsAreNotShown in errors of the command line.
func TestWrongConnectionStringsAreNotShown(t *testing.T) {
	const secret = "Endpoint=sb://x;SharedAccessKeyName=n;SharedAccessKey=c2VjcmV0"
	for _, args := range [][]string{{"export", "Endpoint=sb://x", secret}, {secret}, {"help", secret}} {
		if _, _, err := runLine(t, nil, args...); err == nil || strings.Contains(err.Error(), "c2VjcmV0") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %v", args, err)
		}
	}
}

// TestExportTakesItsConnectionStringFromThreePlaces: the argument, the environment, standard input.
func TestExportTakesItsConnectionStringFromThreePlaces(t *testing.T) {
	for _, tt := range []struct {
		args, environ []string
		want          string
	}{
		{[]string{"export", "Endpoint=sb://one"}, []string{connectionVariable + "=Endpoint=sb://two;x"}, "quotation marks"},
		{[]string{"export", "--format", "bicep"}, []string{connectionVariable + "=Endpoint=sb://two;x"}, "a part has no '='"},
		{[]string{"export"}, nil, "needs a connection string"},
		{[]string{"export"}, []string{"MINIBUS_FORMAT=yaml"}, "allowed: config, bicep, terraform"},
		{[]string{"export", "--format", "bicep"}, []string{"MINIBUS_FORMAT=yaml"}, "needs a connection string"},
	} {
		if _, _, err := runLine(t, tt.environ, tt.args...); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v with %v: %v", tt.args, tt.environ, err)
		}
	}
}

// TestOtherWaysToSayIt finds flags in front of a command, help and version in all places, and files with odd names.
func TestOtherWaysToSayIt(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"good.json", "--strange"} {
		if err := os.WriteFile(name, []byte(`{"UserConfig": {"Namespaces": [{"Queues": [{"Name": "a"}]}]}}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for line, want := range map[string]string{
		"--version": "platform:", "-v": "platform:", "serve --version": "platform:", "version": "platform:", "Version": "platform:", "version -o json": `"platform": "`,
		"help": "COMMAND --help", "-h": "COMMAND --help", "nothing --help": "COMMAND --help", "--help --limits fun": "COMMAND --help",
		"help config": "minibus config COMMAND", "help serve": "minibus serve [flags]", "help Export": "minibus export [CONNECTION]", "cert export -h": "minibus cert export [flags]",
		"config check --help --limits fun": "minibus config check [FILE...]", "queue --help": "minibus queue COMMAND",
		"--limits relaxed config check good.json": "good.json: good: 1 queue", "config check good.json --limits=standard": "good: 1 queue",
		"config check -- --strange": "--strange: good: 1 queue", "-o json config check good.json": `"good": true`,
		"config check --output jsonl good.json": `{"file":"good.json","findings":[],"good":true}`,
		"hosts shop":                            "127.0.0.1 shop.servicebus.windows.net\n",
	} {
		out, _, err := runLine(t, nil, strings.Fields(line)...)
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("minibus %s: %v\n%s", line, err, out)
		}
	}
	const text = `MINIBUS_CONFIG_JSON={"UserConfig": {"Namespaces": [{"Name": "sbemulatorns", "Queues": [{"Name": "q"}]}]}}`
	if out, _, err := runLine(t, []string{text}, "config", "check"); err != nil || !strings.Contains(out, "--config-json: good: 1 queue") {
		t.Errorf("the text in the variable: %v\n%s", err, out)
	}
	if _, _, err := runLine(t, []string{text, "MINIBUS_CONFIG=good.json"}, "serve", "--ephemeral"); err == nil || !strings.Contains(err.Error(), "both given") {
		t.Errorf("a file and a text: %v", err)
	}
	if _, _, err := runLine(t, []string{"MINIBUS_CONFIG_JSON={"}, "serve", "--ephemeral"); err == nil || !strings.Contains(err.Error(), "--config-json:1:") {
		t.Errorf("a broken text: %v", err)
	}
	if out, _, err := runLine(t, []string{"MINIBUS_CONFIG=good.json"}, "config", "check"); err != nil || !strings.Contains(out, "good.json: good") {
		t.Errorf("config check without a file: %v %s", err, out)
	}
}

// TestOnlyServeServes, with and without its word.
func TestOnlyServeServes(t *testing.T) {
	for _, line := range []string{"", "serve", "--ephemeral", "serve --ephemeral"} {
		if out, _, err := runLine(t, []string{"MINIBUS_EPHEMERAL=1", "MINIBUS_AMQP_PORT=0", "MINIBUS_TLS_PORT=off", "MINIBUS_HTTP_PORT=off"},
			strings.Fields(line)...); err != nil || out != "" {
			t.Errorf("minibus %s, told to stop: %v %s", line, err, out)
		}
	}
}

func TestHelpNamesEveryFlag(t *testing.T) {
	help, _, _ := runLine(t, nil, "--help")
	for _, f := range config.Flags() {
		if strings.Contains(help, "--"+f.Name+" ") != (f.Group != "") {
			t.Errorf("--%s is in the help: %v", f.Name, f.Group == "")
		}
	}
	for line := range strings.SplitSeq(help, "\n") {
		if len(line) > 142 {
			t.Errorf("a line of %d characters: %s", len(line), line)
		}
	}
}

// The help of a command lists the flags that it takes, and no others.
func TestHelpOfACommand(t *testing.T) {
	for words, tt := range map[string]struct{ has, lacks []string }{
		"serve":        {[]string{"--amqp-port", "--data", "--trace", "MINIBUS_AMQP_PORT"}, []string{"--format", "--ca-file", "--connection"}},
		"config check": {[]string{"minibus config check [FILE...]", "--config", "--limits", "--output"}, []string{"--data", "--format"}},
		"export":       {[]string{"minibus export [CONNECTION]", "--format", "--out", "--ca-file", "--namespace NAME", connectionVariable}, []string{"--data", "--password"}},
		"cert":         {[]string{"minibus cert [export]", "--data", "--ca-dir"}, []string{"--trace", "--ca-file", "--password"}},
		"cert export":  {[]string{"minibus cert export", "--format", "--out", "--password", "--data"}, []string{"--trace"}},
		"healthcheck":  {[]string{"--http-port", "--host", "--ports-file"}, []string{"--data", "--out"}},
		"hosts":        {[]string{"minibus hosts [NAME...]", "--compose", "--config", "tee -a"}, []string{"--data", "--out", "--write", "--remove"}},
		"run":          {[]string{"Of these flags --config, --config-json, --seed,", "MINIBUS_CONFIG"}, []string{"MINIBUS_AMQP_PORT", "Each of these"}},
		"version":      {[]string{"print the version", "--output format"}, []string{"MINIBUS_", "--data"}},
		"queue ls":     {[]string{"minibus queue ls", "--connection string", "-o, --output"}, []string{"--data", "MINIBUS_AMQP_PORT"}},
	} {
		help, _, err := runLine(t, nil, append(strings.Fields(words), "--help")...)
		if again, _, _ := runLine(t, nil, append([]string{"help"}, strings.Fields(words)...)...); err != nil || again != help {
			t.Errorf("the help of %s: %v; help %s is another one", words, err, words)
		}
		for _, want := range tt.has {
			if !strings.Contains(help, want) {
				t.Errorf("the help of %s lacks %q:\n%s", words, want, help)
			}
		}
		for _, not := range tt.lacks {
			if strings.Contains(help, not) {
				t.Errorf("the help of %s has %q:\n%s", words, not, help)
			}
		}
	}
}

// TestCompletionOfServerFlags offers the flags of the server, and those of a client's command only there.
func TestCompletionOfServerFlags(t *testing.T) {
	for line, want := range map[string]string{"--amqp-p": "--amqp-port", "serve --tra": "--trace", "heal": "healthcheck", "se": "serve", "config c": "check",
		"cert e": "export", "export --form": "--format", "queue ls --conn": "--connection"} {
		out, _, err := runLine(t, nil, append([]string{cobra.ShellCompNoDescRequestCmd}, strings.Fields(line)...)...)
		if err != nil || !slices.Contains(strings.Fields(out), want) {
			t.Errorf("%s is completed with %q, %v", line, out, err)
		}
	}
	if out, _, _ := runLine(t, nil, cobra.ShellCompNoDescRequestCmd, "--conn"); strings.Contains(out, "--connection") {
		t.Errorf("the server has the flag of a client: %s", out)
	}
}

// docs/configuration.md has a row for each flag of the server and of the commands beside it, and for no other.
func TestPageNamesEveryFlag(t *testing.T) {
	page, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatalf("read the page: %v", err)
	}
	named := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(--[^`]+)`").FindAllStringSubmatch(string(page), -1) {
		for _, flag := range regexp.MustCompile("--([a-z-]+)").FindAllStringSubmatch(row[1], -1) {
			named[flag[1]] = true
		}
	}
	flags := map[string]bool{}
	for _, f := range config.Flags() {
		flags[f.Name] = f.Group != ""
	}
	root := (&program{}).root()
	for _, words := range []string{"export", "cert export", "hosts"} {
		c, _, err := root.Find(strings.Fields(words))
		if err != nil {
			t.Fatal(err)
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if _, known := flags[f.Name]; !known {
				flags[f.Name] = true
			}
		})
	}
	for name, listed := range flags {
		if listed && !named[name] {
			t.Errorf("docs/configuration.md has no row for --%s", name)
		}
		delete(named, name)
	}
	for name := range named {
		t.Errorf("docs/configuration.md has a row for --%s, which does not exist", name)
	}
}
