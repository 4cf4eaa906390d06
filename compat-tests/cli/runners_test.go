package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

// runner is a program that runs tests, with a project that has one: it sends three messages, receives one of them, and
// fails if the variable FAIL is set. It needs no SDK.
type runner struct {
	files   map[string]string
	command func(t *testing.T, dir string) []string
	ran     string // that it prints of a test that passed
}

var runners = map[string]runner{
	"Jest": {
		files: map[string]string{"package.json": "{}", "shop.test.js": `
test("three orders", async () => {
  const messages = process.env.SERVICEBUS_CONNECTION_STRING.replace(/.*sb:\/\/([^;/]*).*/, "http://$1/queue.1/messages");
  for (const body of ["a", "b", "c"]) expect((await fetch(messages, { method: "POST", body })).status).toBe(201);
  expect(await (await fetch(messages + "/head?timeout=5", { method: "DELETE" })).text()).toBe(process.env.FAIL ? "d" : "a");
});
`},
		command: func(t *testing.T, dir string) []string {
			harness.InstallNodeModules(t, "../js/kit")
			jest, err := filepath.Abs("../js/kit/node_modules/jest/bin/jest.js")
			if err != nil {
				t.Fatal(err)
			}
			return []string{"node", jest, "--cacheDirectory", filepath.Join(dir, "cache")}
		},
		ran: "1 passed, 1 total",
	},
	"pytest": {
		files: map[string]string{"test_shop.py": `
import os, re
from urllib.request import Request, urlopen


def test_three_orders():
    messages = "http://" + re.search("sb://([^;/]*)", os.environ["SERVICEBUS_CONNECTION_STRING"])[1] + "/queue.1/messages"
    for body in (b"a", b"b", b"c"):
        assert urlopen(Request(messages, body, method="POST")).status == 201
    received = urlopen(Request(messages + "/head?timeout=5", method="DELETE")).read()
    assert received == (b"d" if "FAIL" in os.environ else b"a")
`},
		command: func(t *testing.T, dir string) []string {
			return []string{harness.Python(t, "../python/kit"), "-B", "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", dir, dir}
		},
		ran: "1 passed",
	},
	"Maven": {
		files: map[string]string{"src/test/java/ShopTest.java": `
import static org.junit.jupiter.api.Assertions.assertEquals;
import java.net.URI;
import java.net.http.*;
import java.net.http.HttpRequest.BodyPublishers;
import org.junit.jupiter.api.Test;

class ShopTest {
  @Test void threeOrders() throws Exception {
    var host = System.getenv("SERVICEBUS_CONNECTION_STRING").replaceAll(".*sb://([^;/]*).*", "$1");
    var messages = "http://" + host + "/queue.1/messages";
    var client = HttpClient.newHttpClient();
    for (var body : new String[] {"a", "b", "c"}) {
      var sent = HttpRequest.newBuilder(URI.create(messages)).POST(BodyPublishers.ofString(body)).build();
      assertEquals(201, client.send(sent, HttpResponse.BodyHandlers.discarding()).statusCode());
    }
    var head = HttpRequest.newBuilder(URI.create(messages + "/head?timeout=5")).DELETE().build();
    var received = client.send(head, HttpResponse.BodyHandlers.ofString()).body();
    assertEquals(System.getenv("FAIL") == null ? "a" : "d", received);
    System.out.println("threeOrders passed");
  }
}
`},
		command: func(t *testing.T, dir string) []string {
			pom, err := os.ReadFile("../java/pom.xml")
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, "pom.xml"), pom, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			return []string{"mvn", "--file", dir, "--batch-mode", "--quiet", "test"}
		},
		ran: "threeOrders passed",
	},
	"go test": {
		files: map[string]string{"go.mod": "module shop\n\ngo 1.26\n", "shop_test.go": `package shop

import (
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestThreeOrders(t *testing.T) {
	messages := "http://" + regexp.MustCompile("sb://([^;/]*)").FindStringSubmatch(os.Getenv("SERVICEBUS_CONNECTION_STRING"))[1] + "/queue.1/messages"
	for _, body := range []string{"a", "b", "c"} {
		if sent, err := http.Post(messages, "text/plain", strings.NewReader(body)); err != nil || sent.StatusCode != 201 {
			t.Fatal(sent, err)
		}
	}
	head, _ := http.NewRequest(http.MethodDelete, messages+"/head?timeout=5", nil)
	answer, err := http.DefaultClient.Do(head)
	if err != nil {
		t.Fatal(err)
	}
	received, _ := io.ReadAll(answer.Body)
	want := "a"
	if os.Getenv("FAIL") != "" {
		want = "d"
	}
	if string(received) != want {
		t.Fatalf("received %q", received)
	}
}
`},
		command: func(_ *testing.T, dir string) []string {
			return []string{"go", "test", "-C", dir, "-v", "-count=1", "."}
		},
		ran: "--- PASS: TestThreeOrders",
	},
}

// TestRun_Runners runs tests with what people run them with. The summary counts what each test has done, the exit code
// and what is printed are the runner's, and --fail-on only matters to tests that passed.
func TestRun_Runners(t *testing.T) {
	t.Parallel()
	harness.NeedAll(t, "to run tests of four languages")
	for name, r := range runners {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := harness.WriteFiles(dir, r.files); err != nil {
				t.Fatal(err)
			}
			command := r.command(t, dir)
			for _, c := range []struct {
				environ []string
				flags   []string
				code    int
			}{
				{code: 0},
				{flags: []string{"--fail-on", "left"}, code: 9},
				{environ: []string{"FAIL=1"}, flags: []string{"--fail-on", "left"}, code: 1},
			} {
				report := filepath.Join(dir, "report.json")
				args := append(append([]string{"run", "--report", report}, c.flags...), "--")
				cmd := exec.Command(harness.Binary(t), append(args, command...)...)
				cmd.Dir = dir
				cmd.Env = append(append(os.Environ(), "GITHUB_STEP_SUMMARY="), c.environ...)
				out, _ := cmd.CombinedOutput()
				if code := cmd.ProcessState.ExitCode(); code != c.code || strings.Contains(string(out), r.ran) != (c.environ == nil) {
					t.Errorf("%v %v: exit code %d, want %d\n%s", c.environ, c.flags, code, c.code, out)
				}
				var sum struct {
					ExitCode int
					Messages []struct {
						Event string
						Count int
					}
					Left []struct{ Active int }
				}
				read(t, report, json.Unmarshal, &sum)
				if got, want := fmt.Sprint(sum.Messages, sum.Left), "[{sent 3} {delivered 1} {completed 1} {dead-lettered 0}] [{2}]"; got != want {
					t.Errorf("%v: the summary counts %s, want %s", c.environ, got, want)
				}
				if (sum.ExitCode != 0) != (c.environ != nil) {
					t.Errorf("%v: the command's exit code is %d in the summary", c.environ, sum.ExitCode)
				}
			}
		})
	}
}
