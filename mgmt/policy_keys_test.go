package mgmt

import (
	"regexp"
	"strings"
	"testing"

	"minibus/emulator"
)

// An update of a policy's rights without keys keeps the keys, so that their owners are not locked out.
func TestAPolicyKeepsTheKeysThatAnUpdateLeavesOut(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	policy := func(right, keys string) string {
		return "<AuthorizationRules><AuthorizationRule><Rights><AccessRights>" + right + "</AccessRights></Rights><KeyName>shop</KeyName>" +
			keys + "</AuthorizationRule></AuthorizationRules>"
	}
	keys := func(text string) string {
		return strings.Join(regexp.MustCompile("<(Primary|Secondary)Key>[^<]+<").FindAllString(text, -1), " ")
	}
	for path, kind := range map[string]string{"/q": "Queue", "/t": "Topic"} {
		body := func(right, keys string) string {
			return strings.ReplaceAll(queueEntry(policy(right, keys)), "QueueDesc", kind+"Desc")
		}
		wants(t, b.do("PUT", path, body("Send", "")), 201)
		made := keys(b.do("GET", path, "").Body.String())
		if len(strings.Fields(made)) != 2 {
			t.Fatalf("keys %s", made)
		}
		w := b.do("PUT", path, body("Listen", ""), "If-Match", "*")
		wants(t, w, 200, "<AccessRights>Listen<")
		if got := keys(b.do("GET", path, "").Body.String()); got != made {
			t.Errorf("%s: keys %s, want %s", path, got, made)
		}
		wants(t, b.do("PUT", path, body("Listen", "<PrimaryKey>mine</PrimaryKey>"), "If-Match", "*"), 200)
		got := keys(b.do("GET", path, "").Body.String())
		if !strings.Contains(got, ">mine<") || !strings.HasSuffix(got, strings.Fields(made)[1]) {
			t.Errorf("%s: keys %s, want a new first one of %s", path, got, made)
		}
	}
}
