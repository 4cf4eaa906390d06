// Package legacy pins the Go client of before 2021, whose tests compat_test.go runs.
package legacy

import _ "github.com/Azure/azure-service-bus-go" // the client
