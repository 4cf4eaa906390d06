package arm

import (
	"fmt"
	"os"
	"os/exec"
	"strings"

	"minibus/compat-tests/harness"
)

// exported runs the commands of az that minibus export writes of a namespace, for another one, which then has the same entities.
func (a *azure) exported() {
	a.Helper()
	export := func() string {
		a.Helper()
		cmd := exec.Command(harness.Binary(a), "export", fmt.Sprintf("localhost:%d", a.cloud.Ports.TLS), "--auth", "az", "--ca-file", a.cloud.CA(), "--format", "az")
		cmd.Env = append(append(os.Environ(), a.environ()...), "AZURE_TOKEN_CREDENTIALS=AzureCLICredential")
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			a.Fatalf("export: %v", err)
		}
		return string(out)
	}
	a.script("servicebus namespace create -g roles -n copied-ns-1 -l westeurope")
	lines := strings.NewReplacer("\\\n", "", `"$RESOURCE_GROUP"`, "roles", `"$NAMESPACE"`, "copied-ns-1").Replace(export())
	n := 0
	for line := range strings.Lines(lines) {
		if command, ok := strings.CutPrefix(line, "az "); ok {
			n++
			args := words(strings.ReplaceAll(command, `'\''`, "\x00")) // a quotation mark as a shell wants it
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], "\x00", "'")
			}
			if e := a.try(args...); e.Code != 0 {
				a.Errorf("az %q ended with %d: %s", args, e.Code, e.Err)
			}
		}
	}
	if n < 10 {
		a.Errorf("%d commands in\n%s", n, lines)
	}
	a.script(`
		servicebus queue show -g roles --namespace-name copied-ns-1 -n queue.1 # "maxDeliveryCount": 3
		servicebus topic subscription rule list -g roles --namespace-name copied-ns-1 --topic-name topic.1 --subscription-name subscription.1 # "contentType": "application/json"
		servicebus topic subscription rule list -g roles --namespace-name copied-ns-1 --topic-name topic.1 --subscription-name subscription.4 # "sqlExpression": "SET sys.To = 'Entity'"
	`)
}
