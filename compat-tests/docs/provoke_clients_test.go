package docs

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/harness"
)

// clientProvokers are those that need a client: the SDK for Go, or HTTP.
var clientProvokers = map[string]provoker{
	"The client does not trust the certificate": distrust,
	"The certificate has another name":          otherName,
	"A WebSocket gets 403":                      strangeHost,
	"The client speaks another protocol":        oldProtocol,
	"The key is wrong":                          wrongKey,
	"A token has InvalidIssuer":                 cloudToken,
	"An identity has no role":                   noRole,
	"A request over HTTP has no token":          noToken,
	"The queue or topic does not exist":         noQueue,
	"The subscription does not exist":           noSubscription,
	"A queue is full":                           fullQueue,
	"A message is too large":                    tooLarge,
	"The queue requires sessions":               requiresSession,
	"The message has no session":                withoutSession,
	"The session is locked":                     lockedSession,
	"The lock is lost":                          lostLock,
	"The session lock is lost":                  lostSession,
	"A deferred message can't be received":      noDeferred,
	"A request about a lock is refused":         lateRenewal,
	"A message does not arrive":                 deadLetter,
}

// bus is a server with a client that tries nothing again.
type bus struct {
	*testing.T
	server *harness.Server
	client *azservicebus.Client
	ctx    context.Context
}

// newBus starts a server with a queue a that has a property.
func newBus(t *testing.T, property string, args ...string) *bus {
	t.Helper()
	s := harness.Start(t, harness.Options{Config: withQueue(t, property), CADir: t.TempDir(), Args: args, Alone: true})
	return &bus{T: t, server: s, client: connect(t, s.ConnectionString()), ctx: bounded(t)}
}

func bounded(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func connect(t *testing.T, connection string) *azservicebus.Client {
	t.Helper()
	client, err := azservicebus.NewClientFromConnectionString(connection,
		&azservicebus.ClientOptions{RetryOptions: azservicebus.RetryOptions{MaxRetries: -1}})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// refused wants an error whose text has a word, if one is given, and returns where the line of the log is.
func (b *bus) refused(err error, word string) func() string {
	b.Helper()
	if err == nil || !strings.Contains(err.Error(), word) {
		b.Fatalf("the client's error is %v, want one with %q", err, word)
	}
	return b.server.Log
}

func (b *bus) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bus) send(client *azservicebus.Client, entity string, m *azservicebus.Message) error {
	b.Helper()
	sender, err := client.NewSender(entity, nil)
	b.must(err)
	return sender.SendMessage(b.ctx, m, nil)
}

func (b *bus) receiver() *azservicebus.Receiver {
	b.Helper()
	receiver, err := b.client.NewReceiverForQueue("a", nil)
	b.must(err)
	return receiver
}

func text() *azservicebus.Message { return &azservicebus.Message{Body: []byte("x")} }

// post sends a message over HTTP and returns the status.
func post(t *testing.T, s *harness.Server, queue string, size int, header http.Header) int {
	t.Helper()
	request, err := http.NewRequest(http.MethodPost, "http://"+httpAddr(s)+"/"+queue+"/messages", bytes.NewReader(make([]byte, size)))
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range header {
		request.Header[name] = values
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	return answer.StatusCode
}

// distrust connects as an SDK does that does not know UseDevelopmentEmulator.
func distrust(t *testing.T) func() string {
	b := newBus(t, "")
	connection := fmt.Sprintf("Endpoint=sb://localhost:%d;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE", b.server.Ports.TLS)
	return b.refused(b.send(connect(t, connection), "a", text()), "certificate signed by unknown authority")
}

func otherName(t *testing.T) func() string {
	b := newBus(t, "")
	_, err := tls.Dial("tcp", b.server.Addr(), &tls.Config{ServerName: "bus.example.org"})
	return b.refused(err, "certificate")
}

func strangeHost(t *testing.T) func() string {
	b := newBus(t, "")
	request, err := http.NewRequest(http.MethodGet, "http://"+httpAddr(b.server)+"/$servicebus/websocket", nil)
	b.must(err)
	request.Host = "bus.example.org"
	for name, value := range map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
		"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="} {
		request.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(request)
	b.must(err)
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusForbidden {
		t.Errorf("the WebSocket gets %s", answer.Status)
	}
	return b.server.Log
}

// oldProtocol speaks AMQP 0-9-1.
func oldProtocol(t *testing.T) func() string {
	b := newBus(t, "")
	c, err := net.Dial("tcp", b.server.Addr())
	b.must(err)
	t.Cleanup(func() { _ = c.Close() })
	_, err = c.Write([]byte("AMQP\x00\x00\x09\x01"))
	b.must(err)
	return b.server.Log
}

func wrongKey(t *testing.T) func() string {
	b := newBus(t, "", "--auth", "sas", "--root-key", "mine")
	return b.refused(b.send(b.client, "a", text()), "")
}

// identityTest starts a server that takes web tokens, and a client that shows one.
func identityTest(t *testing.T, token func(*harness.Server) string) *bus {
	b := newBus(t, "", "--auth", "entra", "--root-key", "mine", "--identity-secret", "a-secret-of-the-test")
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(body(t, "http://"+httpAddr(b.server)+"/minibus/ca.pem", nil)))
	var err error
	b.client, err = azservicebus.NewClient("localhost", webToken(token(b.server)), &azservicebus.ClientOptions{
		CustomEndpoint: fmt.Sprintf("localhost:%d", b.server.Ports.TLS), TLSConfig: &tls.Config{RootCAs: roots},
		RetryOptions: azservicebus.RetryOptions{MaxRetries: -1}})
	b.must(err)
	return b
}

// webToken is a credential that has a token already.
type webToken string

func (w webToken) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: string(w), ExpiresOn: time.Now().Add(time.Hour)}, nil
}

// body returns the answer to a form that is posted, or to a GET without one.
func body(t *testing.T, address string, form url.Values) string {
	t.Helper()
	ask := func() (*http.Response, error) { return http.Get(address) }
	if form != nil {
		ask = func() (*http.Response, error) { return http.PostForm(address, form) }
	}
	answer, err := ask()
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %s %v", address, answer.Status, text, err)
	}
	return string(text)
}

// cloudToken shows a token as Microsoft Entra ID makes them.
func cloudToken(t *testing.T) func() string {
	b := identityTest(t, func(*harness.Server) string {
		part := base64.RawURLEncoding.EncodeToString
		claims := fmt.Sprintf(`{"iss": "https://sts.windows.net/11111111-1111-1111-1111-111111111111/", "aud": "https://servicebus.azure.net", "exp": %d, "oid": "x"}`,
			time.Now().Add(time.Hour).Unix())
		return part([]byte(`{"alg": "RS256", "kid": "theirs"}`)) + "." + part([]byte(claims)) + "." + part(make([]byte, 256))
	})
	return b.refused(b.send(b.client, "a", text()), "InvalidIssuer")
}

// noRole shows a token of an application to which no role is assigned.
func noRole(t *testing.T) func() string {
	b := identityTest(t, func(s *harness.Server) string {
		var answer struct {
			Token string `json:"access_token"`
		}
		text := body(t, "http://"+httpAddr(s)+"/adfs/oauth2/token", url.Values{"grant_type": {"client_credentials"},
			"client_id": {"22222222-2222-2222-2222-222222222222"}, "client_secret": {"a-secret-of-the-test"}, "scope": {"https://servicebus.azure.net/.default"}})
		if err := json.Unmarshal([]byte(text), &answer); err != nil {
			t.Fatal(err)
		}
		return answer.Token
	})
	_, err := b.receiver().ReceiveMessages(b.ctx, 1, nil)
	return b.refused(err, "'Listen' claim(s)")
}

func noToken(t *testing.T) func() string {
	b := newBus(t, "", "--auth", "sas", "--root-key", "mine")
	if status := post(t, b.server, "queue.1", 1, nil); status != http.StatusUnauthorized {
		t.Errorf("a request without a token gets %d", status)
	}
	return b.server.Log
}

func noQueue(t *testing.T) func() string {
	b := newBus(t, "")
	return b.refused(b.send(b.client, "nosuch", text()), "could not be found")
}

func noSubscription(t *testing.T) func() string {
	b := &bus{T: t, server: harness.Start(t, harness.Options{Alone: true}), ctx: bounded(t)}
	b.client = connect(t, b.server.ConnectionString())
	receiver, err := b.client.NewReceiverForSubscription("topic.1", "nosuch", nil)
	b.must(err)
	_, err = receiver.ReceiveMessages(b.ctx, 1, nil)
	return b.refused(err, "could not be found")
}

// fullQueue fills a queue of the smallest size that a profile has.
func fullQueue(t *testing.T) func() string {
	b := newBus(t, "", "--limits", "emulator")
	for range 600 {
		if post(t, b.server, "a", 200<<10, nil) != http.StatusCreated {
			break
		}
	}
	return b.refused(b.send(b.client, "a", text()), "")
}

func tooLarge(t *testing.T) func() string {
	b := &bus{T: t, server: harness.Start(t, harness.Options{Alone: true}), ctx: bounded(t)}
	b.client = connect(t, b.server.ConnectionString())
	b.refused(b.send(b.client, "queue.1", &azservicebus.Message{Body: make([]byte, 300<<10)}), "the message is too large")
	if status := post(t, b.server, "queue.1", 300<<10, nil); status != http.StatusForbidden {
		t.Errorf("a message of 300 KiB gets %d", status)
	}
	return b.server.Log
}

func requiresSession(t *testing.T) func() string {
	b := newBus(t, `"RequiresSession": true`)
	_, err := b.receiver().ReceiveMessages(b.ctx, 1, nil)
	return b.refused(err, "requires sessions")
}

func withoutSession(t *testing.T) func() string {
	b := newBus(t, `"RequiresSession": true`)
	return b.refused(b.send(b.client, "a", text()), "SessionId was not set")
}

func lockedSession(t *testing.T) func() string {
	b := newBus(t, `"RequiresSession": true`)
	_, err := b.client.AcceptSessionForQueue(b.ctx, "a", "s", nil)
	b.must(err)
	_, err = connect(t, b.server.ConnectionString()).AcceptSessionForQueue(b.ctx, "a", "s", nil)
	return b.refused(err, "locked by another receiver")
}

// late returns a message whose lock is over, and its receiver.
func (b *bus) late() (*azservicebus.Receiver, *azservicebus.ReceivedMessage) {
	b.Helper()
	b.must(b.send(b.client, "a", text()))
	receiver := b.receiver()
	messages, err := receiver.ReceiveMessages(b.ctx, 1, nil)
	b.must(err)
	time.Sleep(2 * time.Second) // the lock lasts one
	return receiver, messages[0]
}

func lostLock(t *testing.T) func() string {
	b := newBus(t, `"LockDuration": "PT1S"`)
	receiver, m := b.late()
	return b.refused(receiver.CompleteMessage(b.ctx, m, nil), "message-lock-lost")
}

func lateRenewal(t *testing.T) func() string {
	b := newBus(t, `"LockDuration": "PT1S"`)
	receiver, m := b.late()
	return b.refused(receiver.RenewMessageLock(b.ctx, m, nil), "lock supplied is invalid")
}

func lostSession(t *testing.T) func() string {
	b := newBus(t, `"RequiresSession": true, "LockDuration": "PT1S"`)
	session, err := b.client.AcceptSessionForQueue(b.ctx, "a", "s", nil)
	b.must(err)
	time.Sleep(2 * time.Second) // the lock lasts one
	return b.refused(session.RenewSessionLock(b.ctx, nil), "session lock has expired")
}

func noDeferred(t *testing.T) func() string {
	b := newBus(t, "")
	_, err := b.receiver().ReceiveDeferredMessages(b.ctx, []int64{99}, nil)
	return b.refused(err, "does not exist")
}

// deadLetter lets a message go to the dead-letter queue by its third delivery, and receives it there by the line of the page.
func deadLetter(t *testing.T) func() string {
	b := &bus{T: t, server: harness.Start(t, harness.Options{Alone: true}), ctx: bounded(t)}
	b.client = connect(t, b.server.ConnectionString())
	b.must(b.send(b.client, "queue.1", text()))
	receiver, err := b.client.NewReceiverForQueue("queue.1", nil)
	b.must(err)
	for range 3 {
		messages, err := receiver.ReceiveMessages(b.ctx, 1, nil)
		b.must(err)
		b.must(receiver.AbandonMessage(b.ctx, messages[0], nil))
	}
	_, metrics := get(t, "http://"+httpAddr(b.server)+"/metrics")
	section, err := harness.Section(harness.ReadPage(t, trouble), "### A message does not arrive")
	b.must(err)
	_, line, found := strings.Cut(section, "\n    curl ")
	if !found {
		t.Fatal("the section has no line with curl")
	}
	out, err := shell(t, os.TempDir(), "curl "+moved(b.server, line))
	if err != nil || !strings.Contains(out, "MaxDeliveryCountExceeded") {
		t.Errorf("the dead-letter queue: %v, %s", err, out)
	}
	return once(metrics)
}
