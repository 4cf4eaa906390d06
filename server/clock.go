//go:build !clocksteps

package server

import "minibus/emulator"

// clock is the broker's; nil means the machine's. A build for the soak has another one (clock_steps.go).
var clock emulator.Clock
