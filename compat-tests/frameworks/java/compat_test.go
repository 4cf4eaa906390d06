// Package javafw runs Java frameworks that build on Service Bus against the built binary. Each has a directory and a pom.xml of its own, with a
// small program as a JUnit test.
package javafw

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// entities are those of the programs: queues, one with sessions, and a topic with a subscription.
func entities(t *testing.T) string {
	t.Helper()
	return harness.WriteTopology(t,
		[]harness.Queue{{Name: "parcels", LockDuration: "PT30S", MaxDeliveryCount: 3}, {Name: "tours", RequiresSession: true},
			{Name: "pumped"}, {Name: "socketed"}},
		[]harness.Topic{{Name: "orders", Subscriptions: []harness.Subscription{{Queue: harness.Queue{Name: "billing"}}}}})
}

// run starts a server that checks tokens and runs the program in dir, which learns from the environment where the server is. The JVM
// trusts the server's authority.
func run(t *testing.T, dir string) {
	t.Helper()
	t.Parallel()
	harness.NeedAll(t, "to run Java frameworks")
	runWith(t, dir, harness.Options{})
}

// runWith is run with options for the server and further variables for the program.
func runWith(t *testing.T, dir string, o harness.Options, environ ...string) {
	t.Helper()
	o.Config, o.CADir = entities(t), t.TempDir()
	o.Args = append(o.Args, "--auth", "sas", "--root-key", "SAS_KEY_VALUE")
	s := harness.Start(t, o)
	environ = append(environ, s.Environ()...)
	environ = append(environ, "SPRING_CLOUD_AZURE_SERVICEBUS_CONNECTION_STRING="+s.ConnectionString())
	environ = append(environ,
		"MINIBUS_TRUST_STORE="+harness.ExportCA(t, o.CADir, "minibus-ca.p12", "--format", "pkcs12"),
		"MAVEN_OPTS=-XX:TieredStopAtLevel=1") // it lives for seconds
	harness.Run(t, environ, "mvn", "--batch-mode", "--quiet", "--file", dir+"/pom.xml", "test")
}

// TestQpid runs Apache Qpid JMS as JMS 1.1, the version for plain JMS clients of a Standard namespace.
func TestQpid(t *testing.T) { run(t, "qpid") }

// TestSpring runs Spring Cloud Azure in a test of Spring Boot: the template and listeners.
func TestSpring(t *testing.T) { run(t, "spring") }

// TestCamel runs routes of Apache Camel.
func TestCamel(t *testing.T) { run(t, "camel") }

// TestSmallRye runs SmallRye Reactive Messaging over AMQP 1.0, which Quarkus uses too.
func TestSmallRye(t *testing.T) { run(t, "smallrye") }

// TestQuarkus starts an application of Quarkus with its extension for AMQP 1.0, which is SmallRye's.
func TestQuarkus(t *testing.T) { run(t, "quarkus") }

// TestLegacy runs the Java client of before 2020. It knows neither the emulator's flag nor other ports than 5671 and 443, so it goes to the
// namespace's own name, which a hosts file of the JVM points to an address that only this test uses.
func TestLegacy(t *testing.T) {
	t.Parallel()
	harness.NeedAll(t, "to run Java frameworks")
	address := harness.Loopback()
	hosts := filepath.Join(t.TempDir(), "hosts")
	lines, err := harness.Output(nil, harness.Binary(t), "hosts", "--host", address, "shop")
	if err == nil {
		err = os.WriteFile(hosts, []byte(lines), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	o := harness.Options{Ports: harness.Ports{TLS: 5671}, Args: []string{"--host", address, "--extra-ports", "443"}}
	runWith(t, "legacy", o, "MINIBUS_HOSTS="+hosts)
}

// TestSpringCloudStream runs the Service Bus binder of Spring Cloud Stream.
func TestSpringCloudStream(t *testing.T) { run(t, "stream") }

// TestJMS runs clients of JMS 2.0: Qpid, Microsoft's azure-servicebus-jms, Spring Cloud Azure's starter and Camel. The
// names of the programs have the numbers of an acceptance list: what a Premium namespace serves, and what the other
// tiers refuse.
func TestJMS(t *testing.T) { runJMS(t) }

// TestJMSIdle waits until links are idle.
func TestJMSIdle(t *testing.T) {
	harness.NeedNightly(t, "to wait for eleven minutes")
	runJMS(t, "-Dgroups=nightly", "-Dexcluded=")
}

// runJMS starts a server in which each program makes a namespace of its own, whose host name a hosts file of the JVM
// points to it. They run at the same time.
func runJMS(t *testing.T, args ...string) {
	t.Helper()
	harness.NeedAll(t, "to run Java frameworks")
	const namespaces = 200
	dir, address := t.TempDir(), harness.Loopback()
	var lines strings.Builder
	lines.WriteString("127.0.0.1 localhost\n")
	for i := range namespaces {
		fmt.Fprintf(&lines, "%s jmstest%d.servicebus.windows.net\n", address, i+1)
	}
	hosts := filepath.Join(dir, "hosts")
	if err := os.WriteFile(hosts, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	c := harness.StartControlled(t, harness.Options{CADir: dir, Alone: true, Ports: harness.Ports{TLS: 5671},
		Args: []string{"--host", address, "--auth", "sas", "--root-key", "SAS_KEY_VALUE", "--namespace-ports", "off"}})
	environ := append(c.Server().Environ(), c.Environ()...)
	environ = append(environ, "MINIBUS_HOST="+address, "MINIBUS_HOSTS="+hosts,
		"MINIBUS_TRUST_STORE="+harness.ExportCA(t, dir, "minibus-ca.p12", "--format", "pkcs12"))
	harness.Maven(t, "jms", environ, args...)
}
