package arm

import (
	"bufio"
	"encoding/json"
	"io"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"minibus/compat-tests/harness"
)

// azure is a process in which commands of az run one after another, with a configuration of its own.
type azure struct {
	*testing.T
	cloud   *cloud
	dir     string // of the configuration, and of the program az
	in      io.Writer
	answers *bufio.Reader
}

// az starts one that knows the cloud and is not logged in.
func (c *cloud) az(t *testing.T, python string) *azure {
	t.Helper()
	a := &azure{T: t, cloud: c, dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(a.dir, "az"), []byte("#!/bin/sh\nexec '"+python+"' -m azure.cli \"$@\"\n"), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	cmd := exec.Command(python, "az.py")
	cmd.Env = append(os.Environ(), a.environ()...)
	cmd.Stderr = os.Stderr
	var err error
	if a.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	a.answers = bufio.NewReader(out)
	if err := cmd.Start(); err != nil {
		t.Fatalf("start az: %v", err)
	}
	end := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	t.Cleanup(func() {
		end.Stop()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	a.script("cloud register -n Minibus --endpoint-resource-manager " + c.base + "\ncloud set -n Minibus")
	return a
}

// environ has the variables of az and of what starts az.
func (a *azure) environ() []string {
	return append(a.cloud.environ(), "PATH="+a.dir+string(os.PathListSeparator)+os.Getenv("PATH"), "AZURE_CONFIG_DIR="+a.dir, "AZURE_CORE_INSTANCE_DISCOVERY=false", "AZURE_CORE_COLLECT_TELEMETRY=false",
		"AZURE_CORE_NO_COLOR=true", "AZURE_CORE_LOGIN_EXPERIENCE_V2=off", "PYTHONDONTWRITEBYTECODE=1")
}

// login signs in with a client secret.
func (a *azure) login() {
	a.Helper()
	a.script("login --service-principal -u " + clientID + " -p " + secret + " --tenant " + tenant)
}

// ended has the output and the exit code of a command.
type ended struct {
	Code     int
	Out, Err string
}

// try runs a command.
func (a *azure) try(args ...string) (e ended) {
	a.Helper()
	line, err := json.Marshal(args)
	if err == nil {
		_, err = a.in.Write(append(line, '\n'))
	}
	var answer []byte
	if err == nil {
		answer, err = a.answers.ReadBytes('\n')
	}
	if err == nil {
		err = json.Unmarshal(answer, &e)
	}
	if err != nil {
		a.Fatalf("az %s: %v", strings.Join(args, " "), err)
	}
	return e
}

// script runs commands, a line each. A word in quotation marks may have blanks. Behind a # is what the output has; in front of the command
// there may be an exit code, and then the text is part of the error.
func (a *azure) script(script string) {
	a.Helper()
	for line := range strings.Lines(script) {
		command, want, _ := strings.Cut(strings.TrimSpace(line), " # ")
		if command == "" {
			continue
		}
		args, code := words(command), 0
		if strings.HasPrefix(args[0], "=") {
			code = int(args[0][1] - '0')
			args = args[1:]
		}
		e := a.try(args...)
		text := e.Out
		if code != 0 {
			text = e.Err
		}
		if e.Code != code || !strings.Contains(text, strings.TrimSpace(want)) {
			a.Errorf("az %s ended with %d, want %d, and %q in\n%s%s", command, e.Code, code, strings.TrimSpace(want), e.Out, e.Err)
		}
	}
}

// words splits a command at blanks.
func words(command string) (all []string) {
	for i, part := range strings.Split(command, "'") {
		if i%2 == 1 {
			all = append(all, part)
		} else {
			all = append(all, strings.Fields(part)...)
		}
	}
	return all
}

// read runs a command and reads its JSON.
func (a *azure) read(into any, command string) {
	a.Helper()
	e := a.try(words(command)...)
	if e.Code != 0 || json.Unmarshal([]byte(e.Out), into) != nil {
		a.Fatalf("az %s ended with %d: %s%s", command, e.Code, e.Out, e.Err)
	}
}

// changes wants an update of an entity to change these properties and no others.
func (a *azure) changes(entity, flags string, names ...string) {
	a.Helper()
	show := strings.Replace(entity, "*", "show", 1)
	var before, after object
	a.read(&before, show)
	a.script(strings.Replace(entity, "*", "update", 1) + " " + flags)
	a.read(&after, show)
	var changed []string
	for name := range after {
		was, _ := json.Marshal(before[name])
		is, _ := json.Marshal(after[name])
		if name != "updatedAt" && name != "accessedAt" && string(was) != string(is) {
			changed = append(changed, name)
		}
	}
	if slices.Sort(changed); !slices.Equal(changed, names) || len(before) != len(after) {
		a.Errorf("%s %s changed %v, want %v; of %v", entity, flags, changed, names, slices.Sorted(maps.Keys(after)))
	}
}

// byDevice signs in with a device code. With --auth any nobody need open its page.
func (a *azure) byDevice() {
	a.Helper()
	a.script("login --use-device-code --tenant " + tenant + " # " + subscription)
}

// byPage signs in as a person does, who opens the page that az names, and types the code and the identity secret.
func (a *azure) byPage() {
	a.Helper()
	cmd := exec.Command(filepath.Join(a.dir, "az"), "login", "--use-device-code", "--tenant", tenant)
	cmd.Env = append(os.Environ(), a.environ()...)
	out := new(strings.Builder)
	cmd.Stdout = out
	text, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		a.Fatalf("start az: %v", err)
	}
	end := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer end.Stop()
	prompt := regexp.MustCompile(`open the page (\S+) and enter the code (\S+) to authenticate`)
	said := ""
	for lines := bufio.NewScanner(text); lines.Scan(); {
		said += lines.Text() + "\n"
		if found := prompt.FindStringSubmatch(lines.Text()); found != nil {
			answer, err := a.cloud.client(a.T).PostForm(found[1], url.Values{"user_code": {found[2]}, "secret": {secret}})
			if err != nil {
				a.Fatalf("send the form of the page: %v", err)
			}
			_ = answer.Body.Close()
			said += "The page answers " + answer.Status + ".\n"
		}
	}
	if err := cmd.Wait(); err != nil || !strings.Contains(said, "200 OK") || !strings.Contains(out.String(), subscription) {
		a.Fatalf("az login: %v\n%s%s", err, said, out)
	}
}

// testAz runs the commands for groups and for Service Bus.
func testAz(t *testing.T, c *cloud) {
	a := c.az(t, harness.Python(t, "."))
	a.byPage()
	a.script(`
		account show                                                     # "type": "user"
		group show -n minibus                                            # "provisioningState": "Succeeded"
		logout
		=1 account show                                                  # az login
	`)
	a.login()
	a.script(`
		account show                                                     # "environmentName": "Minibus"
		account list-locations                                           # "westeurope"
		group create -n az -l westeurope --tags team=a                   # "provisioningState": "Succeeded"
		group exists -n az                                               # true
		group exists -n az-none                                          # false
		group list                                                       # "az"
		group show -n az                                                 # "team": "a"
		=3 group show -n az-none                                         # ResourceGroupNotFound
		provider show -n Microsoft.ServiceBus                            # "registrationState": "Registered"
		provider register -n Microsoft.ServiceBus
		servicebus namespace exists --name az-ns-1                       # "nameAvailable": true
		servicebus namespace create -g az -n az-ns-1 -l westeurope       # "status": "Active"
		servicebus namespace exists --name az-ns-1                       # "reason": "NameInUse"
		servicebus namespace create -g az -n az-ns-2                     # "location": "West Europe"
		servicebus namespace create -g az -n az-ns-3 --sku Premium --capacity 1 --mi-system-assigned # "type": "SystemAssigned"
		servicebus namespace show -g az -n az-ns-3                       # "principalId"
		servicebus namespace list                                        # "az-ns-1"
		servicebus namespace list -g az                                  # "az-ns-3"
		servicebus namespace update -g az -n az-ns-1 --tags team=b       # "team": "b"
		servicebus namespace show -g az -n az-ns-1                       # "team": "b"
		servicebus namespace delete -g az -n az-ns-2
		servicebus namespace delete -g az -n az-ns-2
		=3 servicebus namespace show -g az -n az-ns-2                    # ResourceNotFound
		=3 servicebus queue show -g az --namespace-name az-ns-1 -n none  # MessagingGatewayNotFoundStatusCode
		=3 servicebus queue show -g az --namespace-name az-ns-2 -n none  # ParentResourceNotFound
		resource list -g az                                              # "Microsoft.ServiceBus/namespaces"
		resource show -g az -n az-ns-1 --resource-type Microsoft.ServiceBus/namespaces # "team": "b"
		tag list
		rest --method get --url /subscriptions/` + subscription + `/resourceGroups/az?api-version=2021-04-01 # "team": "a"
	`)
	a.entities()
	a.policies()
	a.networks()
	refused := filepath.Join(t.TempDir(), "site.json")
	if err := os.WriteFile(refused, []byte(`{"$schema": "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#", "contentVersion": "1.0.0.0",
		"resources": [{"type": "Microsoft.Web/sites", "apiVersion": "2022-09-01", "name": "shop", "location": "westeurope"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	a.script(`
		=1 deployment group create -g az -n d -f ` + refused + `         # --arm-other-types store
		group delete -n az --yes
		group exists -n az                                               # false
		logout
		=1 account show                                                  # az login
	`)
}

// entities creates, shows, lists, updates and deletes entities and rules.
func (a *azure) entities() {
	const in = " -g az --namespace-name az-ns-1"
	a.script(strings.ReplaceAll(`
		servicebus queue create IN -n q --lock-duration PT30S --max-delivery-count 5   # "lockDuration": "PT30S"
		servicebus queue create IN -n a/b                                              # "a~b"
		servicebus queue show IN -n q                                                  # "maxDeliveryCount": 5
		servicebus queue list IN                                                       # "a~b"
		servicebus topic create IN -n t                                                # "name": "t"
		servicebus topic list IN                                                       # "name": "t"
		servicebus topic subscription create IN --topic-name t -n s                    # "name": "s"
		servicebus topic subscription list IN --topic-name t                           # "name": "s"
		servicebus topic subscription rule list IN --topic-name t --subscription-name s # "$Default"
		servicebus topic subscription rule create IN --topic-name t --subscription-name s -n big --filter-sql-expression 'amount > 1000' # "sqlExpression": "amount > 1000"
		servicebus topic subscription rule create IN --topic-name t --subscription-name s -n red --filter-type CorrelationFilter --label red --correlation-filter-property size=5 # "label": "red"
		servicebus topic subscription rule show IN --topic-name t --subscription-name s -n red # "size": "5"
		servicebus topic subscription rule update IN --topic-name t --subscription-name s -n $Default --filter-sql-expression 'a=2' # "sqlExpression": "a=2"
		servicebus topic subscription rule show IN --topic-name t --subscription-name s -n $Default # "sqlExpression": "a=2"
	`, " IN ", in+" "))
	a.changes("servicebus queue *"+in+" -n q", "--max-delivery-count 7", "maxDeliveryCount")
	a.changes("servicebus topic *"+in+" -n t", "--max-size 2048", "maxSizeInMegabytes")
	a.changes("servicebus topic subscription *"+in+" --topic-name t -n s", "--lock-duration PT2M", "lockDuration")
	a.script(strings.ReplaceAll(`
		servicebus topic subscription rule delete IN --topic-name t --subscription-name s -n red
		servicebus topic subscription delete IN --topic-name t -n s
		servicebus topic delete IN -n t
		servicebus queue delete IN -n q
		servicebus queue delete IN -n a/b
		servicebus queue list IN                                                       # []
	`, " IN ", in+" "))
}

// policies does with policies what is to be done on the three levels.
func (a *azure) policies() {
	a.script(`
		servicebus queue create -g az --namespace-name az-ns-1 -n keys
		servicebus topic create -g az --namespace-name az-ns-1 -n keyst
	`)
	for place, level := range map[string]string{"namespace": " -g az --namespace-name az-ns-1", "queue": " -g az --namespace-name az-ns-1 --queue-name keys",
		"topic": " -g az --namespace-name az-ns-1 --topic-name keyst"} {
		rule := "servicebus " + place + " authorization-rule "
		a.script(strings.NewReplacer("RULE ", rule, " IN", level).Replace(`
			RULE create IN -n app --rights Send           # "Send"
			RULE update IN -n app --rights Send Listen    # "Listen"
			RULE list IN                                  # "app"
			RULE keys list IN -n app                      # "keyName": "app"
			RULE keys renew IN -n app --key SecondaryKey --key-value Zm9vYmFyZm9vYmFyZm9vYmFyZm9vYmFyZm9vYmFyZm8= # "secondaryKey": "Zm9vYmFyZm9vYmFyZm9vYmFyZm9vYmFyZm9vYmFyZm8="
		`))
		var before, after struct{ PrimaryKey, SecondaryKey, PrimaryConnectionString string }
		a.read(&before, rule+"keys list"+level+" -n app")
		a.read(&after, rule+"keys renew"+level+" -n app --key PrimaryKey")
		if before.PrimaryKey == after.PrimaryKey || before.SecondaryKey != after.SecondaryKey {
			a.Errorf("%s: keys renew changed the wrong key", place)
		}
		if entity := strings.Contains(after.PrimaryConnectionString, ";EntityPath=key"); entity != (place != "namespace") {
			a.Errorf("%s: the connection string is %s", place, after.PrimaryConnectionString)
		}
		a.script(strings.NewReplacer("RULE ", rule, " IN", level).Replace(`
			RULE delete IN -n app
			=3 RULE show IN -n app                        # MessagingGatewayNotFoundStatusCode
		`))
	}
}

// networks asks for what a namespace has around it.
func (a *azure) networks() {
	a.script(`
		servicebus namespace network-rule-set show -g az --namespace-name az-ns-1       # "defaultAction": "Allow"
		servicebus namespace network-rule-set ip-rule add -g az --namespace-name az-ns-1 --ip-rule ip-address=10.1.1.1 action=Allow # "10.1.1.1"
		servicebus namespace network-rule-set update -g az --namespace-name az-ns-1 --default-action Deny # "defaultAction": "Deny"
		servicebus namespace network-rule-set ip-rule remove -g az --namespace-name az-ns-1 --ip-rule ip-address=10.1.1.1 # "ipRules": []
		servicebus namespace private-endpoint-connection list -g az --namespace-name az-ns-1 # []
		servicebus namespace private-link-resource show -g az --namespace-name az-ns-1
		servicebus georecovery-alias list -g az --namespace-name az-ns-3                # []
		=1 servicebus georecovery-alias set -g az --namespace-name az-ns-3 --alias a --partner-namespace az-ns-1 # MessagingGatewayBadRequest
		servicebus migration list -g az --namespace-name az-ns-1                         # []
		=3 servicebus migration show -g az --name az-ns-1                               # MessagingGatewayNotFoundStatusCode
	`)
}
