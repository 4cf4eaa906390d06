package harness

import (
	"fmt"
	"os"
	"sync/atomic"
)

var loopbacks atomic.Int64

// Loopback returns an address of this machine that no other test uses, so that ports which a client insists on are free there. Only
// Linux has more than one.
func Loopback() string {
	pid := os.Getpid()
	return fmt.Sprintf("127.%d.%d.%d", pid>>8&0xff, pid&0xff, loopbacks.Add(1))
}
