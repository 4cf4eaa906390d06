//go:build oldest

package compat

import "github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

// compat-tests/go/oldest compiles the suite with the oldest release of the SDK that knows the emulator's flag, and leaves out the tests that
// come here.

const (
	column       = "go-oldest"
	codeNotFound = azservicebus.Code("") // the release shows an error without a code
)

func setEndpoint(*azservicebus.ClientOptions, string) { panic("the release knows no custom endpoint") }

func (a *mixedAudit) listSessions() []string { panic("the release lists no sessions") }
