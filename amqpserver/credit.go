package amqpserver

// credit is the flow control of a link that we send on [AMQP 2.6.7]: the peer says how many deliveries it takes beyond its
// own count. Both sides' counts wrap around.
type credit struct {
	count serial // deliveries sent
	limit serial // deliveries allowed
	drain bool   // send what there is now and give the rest of the credit back
}

// left returns how many deliveries may still be sent.
func (c *credit) left() int {
	if left := int32(c.limit - c.count); left > 0 {
		return int(left)
	}
	return 0
}

// maxCredit bounds what a peer can grant: counts more than half the number circle apart would have no order.
const maxCredit = 1<<31 - 1

// grant takes a flow of the peer. The peer's count lags behind ours by the deliveries on the wire. Without a count the peer
// had not seen our attach yet, so its count was zero.
func (c *credit) grant(peerCount serial, known bool, linkCredit uint32, drain bool) {
	if !known {
		peerCount = 0
	}
	c.limit = peerCount + min(linkCredit, maxCredit)
	c.drain = drain
}

func (c *credit) sent() { c.count++ }

// exhaust gives all credit back, as a drain demands: the count goes to the limit [AMQP 2.6.7].
func (c *credit) exhaust() {
	if c.left() > 0 {
		c.count = c.limit
	}
	c.drain = false
}
