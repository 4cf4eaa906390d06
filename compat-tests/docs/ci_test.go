package docs

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

const (
	ci = "docs/ci.md"

	// actionlint knows the workflows of GitHub: keys, expressions, contexts.
	actionlint = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12"

	// toJSON reads YAML. "on" is a boolean there, and JSON has no such keys.
	toJSON = "import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout)"

	// runTests stands for the user's tests. It leaves behind the connection string that it was told.
	runTests = "#!/bin/sh\necho \"$SERVICEBUS_CONNECTION_STRING\" > told\n"
)

// parse reads a YAML file into a value of the form that JSON has.
func parse(t *testing.T, text string, into any) {
	t.Helper()
	cmd := exec.Command(harness.Python(t, "."), "-c", toJSON)
	cmd.Stdin, cmd.Stderr = strings.NewReader(text), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the YAML does not parse: %v\n%s", err, text)
	}
	if err := json.Unmarshal(out, into); err != nil {
		t.Fatalf("the YAML has another form: %v\n%s", err, out)
	}
}

// step is a step of a job of GitHub Actions, or of Azure Pipelines.
type step struct{ Run, Uses, Script, If string }

type job struct {
	Steps     []step
	Env       map[string]string // of GitHub
	Variables map[string]string // of Azure Pipelines and GitLab
	Script    []string          // of GitLab
	Services  any
}

// lines returns what a job runs in the shell, and its variables.
func (j job) lines() (string, map[string]string) {
	lines := append([]string{}, j.Script...)
	for _, s := range j.Steps {
		if s.If != "failure()" { // the log, if something goes wrong
			lines = append(lines, s.Run+s.Script)
		}
	}
	environ := map[string]string{}
	for _, variables := range []map[string]string{j.Env, j.Variables} {
		for name, value := range variables {
			environ[name] = value
		}
	}
	return strings.Join(lines, "\n"), environ
}

// TestRecipesOfCI parses the files of the page and runs the lines of their jobs for the shell.
func TestRecipesOfCI(t *testing.T) {
	harness.NeedAll(t, "to read YAML")
	page := harness.ReadPage(t, ci)
	for _, c := range []struct {
		section, file string
		job           func(t *testing.T, text string) job
	}{
		{"GitHub Actions", ".github/workflows/test.yml", githubJob},
		{"GitHub Actions", ".github/workflows/image.yml", githubJob},
		{"GitLab", ".gitlab-ci.yml", gitlabJob},
		{"Azure Pipelines", "azure-pipelines.yml", azureJob},
	} {
		t.Run(c.file, func(t *testing.T) {
			recipe, err := harness.ReadRecipe(page, "## "+c.section)
			if err != nil {
				t.Fatal(err)
			}
			lines, environ := c.job(t, recipe.Files[c.file]).lines()
			// What the action sets: compat-tests/release tries the action itself.
			if strings.Contains(recipe.Files[c.file], "OWNER/minibus@") {
				environ["SERVICEBUS_CONNECTION_STRING"] = usual
			}
			runsJob(t, lines, environ)
		})
	}
}

// usual is the connection string that Minibus prints with the usual ports.
const usual = "Endpoint=sb://localhost:5672;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true;"

func githubJob(t *testing.T, text string) job {
	t.Helper()
	file := filepath.Join(t.TempDir(), "workflow.yml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	harness.Run(t, nil, "go", "run", actionlint, "-no-color", "-shellcheck=", "-pyflakes=", file)
	var workflow struct{ Jobs map[string]job }
	parse(t, text, &workflow)
	return workflow.Jobs["test"]
}

func gitlabJob(t *testing.T, text string) job {
	t.Helper()
	var pipeline map[string]job
	parse(t, text, &pipeline)
	return pipeline["test"]
}

func azureJob(t *testing.T, text string) job {
	t.Helper()
	var pipeline struct {
		Resources struct{ Containers []struct{ Container string } }
		Jobs      []job
	}
	parse(t, text, &pipeline)
	container := pipeline.Resources.Containers[0].Container
	if services, _ := pipeline.Jobs[0].Services.(map[string]any); services[container] != container {
		t.Errorf("the job has the services %v, and the container is called %s", pipeline.Jobs[0].Services, container)
	}
	return pipeline.Jobs[0]
}

// runsJob runs a job's lines against a server, and wants that its tests get a connection string that works.
func runsJob(t *testing.T, lines string, environ map[string]string) {
	t.Helper()
	s := harness.Start(t, harness.Options{Config: harness.WriteConfig(t, harness.Queue{Name: "orders"}, harness.Queue{Name: "queue.1"}), Alone: true})
	lines = moved(s, strings.ReplaceAll(lines, "servicebus:5300", "localhost:5300"))
	told := runsLines(t, lines, environ)
	works(t, told, s.Ports.AMQP)
	takesNothing(t, s, "orders")
	takesNothing(t, s, "queue.1")
}

// runsLines runs lines for the shell, which end with the user's tests, and returns the connection string that those were told.
func runsLines(t *testing.T, lines string, environ map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	if err := harness.WriteFiles(dir, map[string]string{"run-tests": runTests, "Config.json": old}); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "run-tests"), 0o700); err != nil {
		t.Fatal(err)
	}
	var exports strings.Builder
	for name, value := range environ {
		fmt.Fprintf(&exports, "export %s='%s'\n", name, value)
	}
	out, err := shell(t, dir, exports.String()+lines)
	if err != nil || strings.Count(out, "hello") != 1 {
		t.Fatalf("the lines end with %v, want that one message is received:\n%s", err, out)
	}
	told, err := os.ReadFile(filepath.Join(dir, "told"))
	if err != nil {
		t.Fatal(err)
	}
	return string(told)
}

// works wants that a connection string of the page does what it should, once it has the port of the test.
func works(t *testing.T, connection string, port int) {
	t.Helper()
	host, rest, _ := strings.Cut(strings.TrimSpace(connection), ";")
	if host = strings.TrimSuffix(host, ":5672"); host != "Endpoint=sb://localhost" && host != "Endpoint=sb://servicebus" {
		t.Fatalf("the tests are told the connection string %q", connection)
	}
	delivers(t, fmt.Sprintf("Endpoint=sb://localhost:%d;%s", port, rest), "orders")
}

// blocks returns the lines for the shell of the section for any other CI.
func blocks(t *testing.T) []string {
	t.Helper()
	section, err := harness.Section(harness.ReadPage(t, ci), "## Any other")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, text := range strings.Split(section, "\n```sh\n")[1:] {
		lines, _, _ := strings.Cut(text, "\n```\n")
		all = append(all, lines)
	}
	if len(all) != 2 {
		t.Fatalf("the section has %d blocks for the shell", len(all))
	}
	return all
}

// TestEntitiesInAServiceContainer loads a Config.json into a server that runs, by the lines of the page.
func TestEntitiesInAServiceContainer(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	section, err := harness.Section(harness.ReadPage(t, ci), "## Entities in a service container")
	if err != nil {
		t.Fatal(err)
	}
	_, lines, _ := strings.Cut(section, "```sh\n")
	lines, _, _ = strings.Cut(lines, "```")
	s := harness.Start(t, harness.Options{Alone: true})
	dir := t.TempDir()
	if err := harness.WriteFiles(dir, map[string]string{"Config.json": old}); err != nil {
		t.Fatal(err)
	}
	if out, err := shell(t, dir, moved(s, lines)); err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	delivers(t, s.ConnectionString(), "orders")
}

// TestWorkflowsOfThePlatforms lets actionlint read the workflow of each page.
func TestWorkflowsOfThePlatforms(t *testing.T) {
	harness.NeedAll(t, "to read YAML")
	for _, platform := range platforms {
		recipe, err := harness.ReadRecipe(harness.ReadPage(t, "docs/"+platform+".md"), "## CI")
		if err != nil {
			t.Error(err)
			continue
		}
		if job := githubJob(t, recipe.Files[".github/workflows/test.yml"]); len(job.Steps) < 3 {
			t.Errorf("docs/%s.md: the job has the steps %v", platform, job.Steps)
		}
	}
}

// TestACommandWithItsServer runs the line with minibus run. The tests send and receive, and stop the server when they end.
func TestACommandWithItsServer(t *testing.T) {
	const tests = "sh -c './run-tests && minibus send orders hello > sent && minibus receive orders -o jsonl'"
	lines := strings.Replace(blocks(t)[0], "./run-tests", tests, 1)
	told := runsLines(t, lines, map[string]string{"SERVICEBUS_CONNECTION_STRING": ""})
	if !regexp.MustCompile(`^Endpoint=sb://localhost:\d+;`).MatchString(told) || strings.Contains(told, ":5672;") {
		t.Errorf("the tests are told the connection string %q", told)
	}
}

// TestAProcessInTheJob runs the lines for any other CI, with other ports in the environment.
func TestAProcessInTheJob(t *testing.T) {
	lines := blocks(t)[1]
	amqp, http := freePort(t), freePort(t)
	var port int
	if _, err := fmt.Sscan(amqp, &port); err != nil {
		t.Fatal(err)
	}
	environ := map[string]string{"MINIBUS_AMQP_PORT": amqp, "MINIBUS_HTTP_PORT": http, "MINIBUS_TLS_PORT": "off", "MINIBUS_NAMESPACE_PORTS": "off"}
	lines = "trap 'touch ended; kill $!; wait' EXIT\n" + strings.ReplaceAll(lines, "localhost:5300", "localhost:"+http)
	// The server ends with the job, so the job itself must try its connection string.
	told := runsLines(t, lines, environ)
	s := harness.Start(t, harness.Options{Config: harness.WriteConfig(t, harness.Queue{Name: "orders"}), Ports: harness.Ports{AMQP: port}, Alone: true})
	works(t, told, s.Ports.AMQP)
}
