//go:build !clocksteps

package command

import "minibus/emulator/clock"

// brokerClock is the broker's clock; nil means the machine's. Builds for the soak test have another one
// (clock_steps.go).
var brokerClock clock.Clock
