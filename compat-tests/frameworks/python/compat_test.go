// Package pyfw runs Python frameworks that build on Service Bus against the built binary. Each has a directory of its own, with its pins and
// its program.
package pyfw

import (
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"minibus/compat-tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// testRunner runs test programs of unittest, many tests at a time.
const testRunner = "../../python/run.py"

// quietly are variables that every program gets: requests takes its authorities from certifi, as it does where no variable says otherwise.
var quietly = []string{"PYTHONDONTWRITEBYTECODE=1", "REQUESTS_CA_BUNDLE=", "CURL_CA_BUNDLE="}

// celery starts a server on an address and returns it with the interpreter and the environment of Celery's programs. target stands behind
// the @ of the broker's URL.
func celery(t *testing.T, address, target string, args ...string) (server *harness.Server, python string, environ []string) {
	t.Helper()
	harness.NeedAll(t, "to run Python frameworks")
	t.Parallel()
	python = harness.Python(t, "celery")
	server = startAt(t, address, args...)
	environ = append(slices.Clone(quietly),
		"CELERY_BROKER_URL=azureservicebus://RootManageSharedAccessKey:SAS_KEY_VALUE@"+target,
		"PYTHONPATH="+withAuthority(t, python, server.CA()),
		"PYTHONWARNINGS=ignore", // Celery's, of a worker that runs as root
		"SHOP_JOURNAL="+filepath.Join(t.TempDir(), "journal"))
	return server, python, environ
}

// TestCelery runs a client and workers of Celery over kombu's transport azureservicebus. It makes its queues itself.
func TestCelery(t *testing.T) {
	address := harness.Loopback()
	_, python, environ := celery(t, address, address+":5671/.net")
	harness.Run(t, environ, python, "celery/test_shop.py")
}

// TestCeleryByName does without a path in the URL: a namespace's own name leads to the server, on the ports 5671 and 443.
func TestCeleryByName(t *testing.T) {
	const name = "shop.servicebus.windows.net"
	address := harness.Loopback()
	_, python, environ := celery(t, address, name, "--extra-ports", "443")
	runWithHosts(t, address+" "+name, environ, python, "celery/test_shop.py", "Shop.test_without_a_worker")
}

// TestCeleryOutlivesTheBroker stops and kills the server under a client and a worker, which connect again.
func TestCeleryOutlivesTheBroker(t *testing.T) {
	address := harness.Loopback()
	server, python, environ := celery(t, address, address+":5671/.net")
	ask, finish := converse(t, environ, python, "celery/double.py")
	double := func(n int) {
		t.Helper()
		if answer := ask(strconv.Itoa(n)); answer != strconv.Itoa(2*n) {
			t.Fatalf("the task on %d gave %q", n, answer)
		}
	}
	double(1)
	server.Stop(t)
	server = harness.Start(t, server.Options())
	double(2)
	server.Kill(t)
	harness.Start(t, server.Options())
	double(3)
	finish()
}

// TestAutoLockRenewer runs workers that take longer than a lock lasts, with azure-servicebus for asyncio.
func TestAutoLockRenewer(t *testing.T) {
	harness.NeedAll(t, "to run Python frameworks")
	t.Parallel()
	python := harness.Python(t, "../../python")
	var queues []harness.Queue
	for _, name := range []string{"orders", "parcels", "letters"} {
		queues = append(queues, harness.Queue{Name: name, LockDuration: "PT10S"})
	}
	for _, name := range []string{"carts", "baskets", "visits"} {
		queues = append(queues, harness.Queue{Name: name, LockDuration: "PT10S", RequiresSession: true})
	}
	server := harness.Start(t, harness.Options{Config: harness.WriteConfig(t, queues...)})
	environ := append(server.Environ(), "PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH=renewal")
	harness.Run(t, environ, python, testRunner, "test_renewal")
}

// TestUAMQP runs the last SDK whose only engine is uAMQP. It knows no emulator: it speaks TLS, on port 5671.
func TestUAMQP(t *testing.T) {
	harness.NeedAll(t, "to run Python frameworks")
	t.Parallel()
	python := harness.Python(t, "uamqp")
	address := harness.Loopback()
	server := startAt(t, address)
	const key = "SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE"
	environ := append(server.Environ(), "PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH=uamqp",
		"SERVICEBUS_CONNECTION_STRING=Endpoint=sb://"+address+";"+key,
		"ADMINISTRATION_CONNECTION_STRING=Endpoint=sb://"+address+":5671;"+key,
		"REQUESTS_CA_BUNDLE="+server.CA())
	harness.Run(t, environ, python, testRunner, "test_uamqp")
}

// TestProton runs Apache Qpid Proton, whose engine is written in C. It knows nothing of Service Bus.
func TestProton(t *testing.T) {
	harness.NeedAll(t, "to run Python frameworks")
	t.Parallel()
	python := harness.Python(t, "proton")
	queues := []harness.Queue{
		{Name: "types"}, {Name: "orders"}, {Name: "once"}, {Name: "secure"}, {Name: "many"},
		{Name: "work", LockDuration: "PT5S"}, {Name: "carts", RequiresSession: true},
	}
	topics := []harness.Topic{{Name: "news", Subscriptions: []harness.Subscription{{Queue: harness.Queue{Name: "all"}}}}}
	server := harness.Start(t, harness.Options{Config: harness.WriteTopology(t, queues, topics), CADir: t.TempDir()})
	harness.Run(t, append(server.Environ(), "PYTHONDONTWRITEBYTECODE=1"), python, "proton/test_proton.py")
}

// TestLegacy runs the last client that speaks HTTP instead of AMQP.
func TestLegacy(t *testing.T) {
	harness.NeedAll(t, "to run Python frameworks")
	t.Parallel()
	python := harness.Python(t, "legacy")
	server := harness.Start(t, harness.Options{Config: harness.WriteConfig(t), CADir: t.TempDir()})
	environ := append(server.Environ(), "PYTHONDONTWRITEBYTECODE=1", "REQUESTS_CA_BUNDLE="+server.CA())
	harness.Run(t, environ, python, "legacy/test_legacy.py")
}
