// Package receive waits for messages on behalf of a request over HTTP, which has no link: a [Waiter] is a consumer
// for as long as the request lasts. Locks belong to tokens, so they outlive it. So does the lock of a session, which
// [Held] has then. [Waiter.Hand] writes the answer, and gives back what could not be written.
//
// The runtime API in package mgmt and the control API call it. It owns no goroutine; [Waiter.Next] waits on that of
// the request.
package receive
