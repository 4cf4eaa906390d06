// Package dotnetfw replays what .NET frameworks ask of the service against the built binary, without the
// frameworks. testdata has a script for each, which tells in its comments what the framework does at each step.
// The requests were seen on the wire in November 2026; those of Functions and ServiceControl are from their
// sources.
//
// A step is a line: a request, "=>", and what the answer must be. http_test.go has the steps of the
// administration, amqp_test.go those of AMQP.
package dotnetfw

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

func TestMain(m *testing.M) { harness.MainAtOnce(m, 8) }

func TestNServiceBus(t *testing.T)    { replay(t, "nservicebus") }
func TestServiceControl(t *testing.T) { replay(t, "servicecontrol") }
func TestFunctions(t *testing.T)      { replay(t, "functions") }
func TestHealthChecks(t *testing.T)   { replay(t, "healthchecks") }
func TestMassTransit(t *testing.T)    { replay(t, "masstransit") }
func TestRebus(t *testing.T)          { replay(t, "rebus") }
func TestWolverine(t *testing.T)      { replay(t, "wolverine") }
func TestCAP(t *testing.T)            { replay(t, "cap") }
func TestSlimMessageBus(t *testing.T) { replay(t, "slimmessagebus") }
func TestBrighter(t *testing.T)       { replay(t, "brighter") }
func TestFoundatio(t *testing.T)      { replay(t, "foundatio") }

// player plays a script. Most steps of AMQP go over one connection, as in the frameworks.
type player struct {
	*testing.T
	server *harness.Server
	amqp   *client
}

// replay plays a script of testdata against a server without entities.
func replay(t *testing.T, name string) {
	t.Parallel()
	script, err := os.Open(filepath.Join("testdata", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer script.Close()
	p := &player{T: t, server: harness.Start(t, harness.Options{Config: harness.WriteConfig(t), Data: filepath.Join(t.TempDir(), "minibus.db")})}
	number := 0
	for lines := bufio.NewScanner(script); lines.Scan(); {
		number++
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		if fault := p.step(line); fault != "" {
			t.Fatalf("%s.txt:%d: %s\n%s", name, number, line, fault)
		}
	}
}

// step plays a line and says what is wrong with the answer.
func (p *player) step(line string) (fault string) {
	request, want, _ := strings.Cut(line, " => ")
	words := split(request)
	switch verb := words[0]; verb {
	case "GET", "PUT", "UPDATE", "DELETE", "LIST", "DELETEALL":
		return p.http(verb, words[1:], split(want))
	default:
		got, err := p.overAMQP(verb, words[1:])
		if err != nil {
			got = condition(err)
		}
		if got != want {
			return "answer: " + got + explain(err)
		}
		return ""
	}
}

func explain(err error) string {
	if err == nil {
		return ""
	}
	return " (" + err.Error() + ")"
}

// split splits a line into words. What stands between double quotes belongs to one word.
func split(line string) (words []string) {
	quoted := false
	for _, word := range strings.FieldsFunc(line, func(r rune) bool {
		if r == '"' {
			quoted = !quoted
		}
		return r == ' ' && !quoted
	}) {
		words = append(words, strings.ReplaceAll(word, `"`, ""))
	}
	return words
}
