package cli

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"minibus/internal/sas"
)

// authAz is the value of --auth: azidentity finds the credential.
const authAz = "az"

// AuthHelp explains the flag.
const AuthHelp = "sign in with `az` login, or another Azure credential of this machine, instead of a key: in place " +
	"of the connection string give the host of the namespace"

// checkAuth checks the flag.
func checkAuth(value string) error {
	if value != "" && value != authAz {
		return Usage("--auth: found %q; allowed: %s", oneLine(value), authAz)
	}
	return nil
}

// resource names Service Bus in requests for tokens, in every cloud, as the SDKs spell it.
const resource = "https://servicebus.azure.net//.default"

// renewal is how long before its end a token is replaced. The service wants five minutes for its own clients.
const renewal = 5 * time.Minute

// signIn gets tokens from what azidentity finds on this machine. Of its credentials, that of az starts a program for
// each token, so they are kept here.
type signIn struct {
	found azcore.TokenCredential

	mu      sync.Mutex // held while az runs, which is once for several clients
	token   azcore.AccessToken
	refused *failure // of the last try: the client for messages hides it
}

// newSignIn looks for nothing yet.
func newSignIn(client *http.Client) (*signIn, error) {
	found, err := azidentity.NewDefaultAzureCredential(&azidentity.DefaultAzureCredentialOptions{
		ClientOptions: azcore.ClientOptions{Transport: client}})
	if err != nil {
		return nil, Usage("--auth %s: %v", authAz, err)
	}
	return &signIn{found: found}, nil
}

// GetToken implements azcore.TokenCredential, for Service Bus only.
func (s *signIn) GetToken(ctx context.Context, _ policy.TokenRequestOptions) (azcore.AccessToken, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Until(s.token.ExpiresOn) > renewal {
		return s.token, nil
	}
	token, err := s.found.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{resource}})
	if err != nil {
		s.refused = &failure{exitUnauthorized, fmt.Sprintf("--auth %s found no sign-in: run az login, or set the "+
			"variables of an identity (%s)", authAz, oneLine(err.Error()))}
		return token, s.refused
	}
	s.token, s.refused = token, nil
	return token, nil
}

// failure is why there is no token.
func (s *signIn) failure() *failure {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refused
}

// bearer returns a token as the header of a request has it.
func (s *signIn) bearer(ctx context.Context) (string, error) {
	token, err := s.GetToken(ctx, policy.TokenRequestOptions{})
	return "Bearer " + token.Token, err
}

// secret is the token that a server may send back.
func (s *signIn) secret() string {
	if s == nil {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.token.Token
}

// namespaceHost is the host of a namespace, in the place of a connection string.
var namespaceHost = regexp.MustCompile(`^[\w.-]+(:\d{1,5})?$`)

// SignIn returns the namespace that a text names, a host or a connection string, with the sign-in of --auth az. where
// names the flag or variable that has the text.
func SignIn(text, auth, where string) (Source, error) {
	if err := checkAuth(auth); err != nil {
		return Source{}, err
	}
	a := &app{}
	err := a.signInTo(strings.Trim(strings.TrimSpace(text), `"'`), where)
	return a.entitySource(), err
}

// entitySource is the namespace of this run, for those who read its entities.
func (a *app) entitySource() Source {
	s := Source{Connection: a.target, CAFile: a.flags.ca}
	if a.signIn != nil {
		s.Token = a.signIn.bearer
	}
	return s
}

// signInTo leads to the namespace that a host or a connection string names, whose key then stays unused.
func (a *app) signInTo(text, source string) error {
	target := sas.Connection{Endpoint: "sb://" + text}
	if !namespaceHost.MatchString(text) {
		var err error
		if target, err = sas.ParseConnection(text); err != nil {
			return Usage("%s: --auth %s takes the host of a namespace, such as contoso.servicebus.windows.net", source,
				authAz)
		}
		target.KeyName, target.Key, target.Signature = "", "", ""
	}
	if target.Emulator {
		return Usage("%s: a token travels over TLS only: leave UseDevelopmentEmulator=true out, or --auth", source)
	}
	config, err := a.tlsConfig()
	if err != nil {
		return err
	}
	credential, err := newSignIn(a.httpClient(config))
	if err != nil {
		return err
	}
	a.source, a.target, a.signIn = source, target, credential
	return nil
}
