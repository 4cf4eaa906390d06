package emulator

import (
	"fmt"
	"slices"
	"strings"
)

// entity looks at what the entity is, and what its settings do.
func (w *why) entity() {
	if w.q.topic != nil && w.ask.Sub != TransferDeadLetter {
		w.topic(w.q.topic)
		return
	}
	switch s := w.options.Status; s {
	case StatusDisabled, StatusReceiveDisabled:
		w.find(FindDisabled, true, "Set the status to Active.",
			"%s has the status %s: receivers are refused.", w.q.path, s)
	case StatusSendDisabled:
		w.sendDisabled()
	}
	if w.options.forwardTarget(w.ask.Sub) != "" {
		w.forward()
	}
	if w.q.subscription != nil && w.ask.Sub == Main {
		w.rules(w.q.subscription)
	}
}

func (w *why) sendDisabled() {
	w.find(FindSendDisabled, false, "Set the status to Active.",
		"%s has the status %s: nothing new can be sent to it.", w.q.path, w.options.Status)
}

// forward says where messages go instead, and whether they get there.
func (w *why) forward() {
	target := w.options.forwardTarget(w.ask.Sub)
	w.find(FindForwards, true, "Receive from "+target+", or clear the forward in the entity's settings.",
		"%s forwards to %s: it keeps no messages and refuses receivers.", w.path, target)
	if waiting := w.total[w.ask.Sub] - w.scheduled - w.deferred - w.parked; waiting > 0 {
		if err := w.q.ns.catalog.cantForwardTo(target); err != nil {
			w.find(FindForwardWaits, false,
				"Let "+target+" accept messages again. Minibus tries to forward about once a second.",
				"%s waiting to be forwarded, and the target refuses messages: %v",
				isAre(int64(waiting), "message"), err)
		}
	}
	if w.ask.Sub == DeadLetter && w.parked > 0 {
		w.parking()
	}
}

// parking says that dead letters can never go to the target of the forward.
func (w *why) parking() {
	target := w.options.ForwardDeadLetteredMessagesTo
	w.find(FindParked, false,
		"Change "+target+" so that it accepts the messages, or clear ForwardDeadLetteredMessagesTo and receive them "+
			"here.",
		"%s set aside in the dead-letter queue, since %s can never accept the messages: it requires a session id "+
			"that is missing, they are too large for it, or they went in a circle.",
		isAre(int64(w.parked), "message"), target)
}

// topic says that messages are in the subscriptions.
func (w *why) topic(t *Topic) {
	fix := "Receive from a subscription, and ask about that one."
	var names []string
	t.mu.Lock()
	offered := t.offered
	for _, s := range t.byID() {
		if offered > s.reach.from && s.reach.selected == 0 {
			fix = "Receive from a subscription, and ask about that one. To send messages to " + s.path +
				", change its rules or add one."
		}
		of := grouped(offered - s.reach.from)
		names = append(names, fmt.Sprintf("%s got %s of %s", s.path, grouped(s.reach.selected), of))
	}
	t.mu.Unlock()
	if s := w.options.Status; s == StatusDisabled || s == StatusSendDisabled {
		w.sendDisabled()
	}
	if len(names) == 0 {
		w.find(FindNoSubscriptions, true, "Create a subscription before the messages are sent.",
			"%s is a topic without subscriptions: it drops every message (%s so far).",
			w.q.path, count(offered, "message"))
		return
	}
	w.find(FindTopic, true, fix,
		"%s is a topic: receive from its subscriptions. Since their rules last changed or Minibus started, %s "+
			"messages.",
		w.q.path, listed(names))
	if w.scheduled > 0 {
		w.find(FindScheduled, false, "Wait, advance the clock, or cancel the messages.",
			"%s scheduled in the topic until the due time. The subscriptions get nothing before.",
			isAre(int64(w.scheduled), "message"))
	}
}

// rules says what the rules of a subscription have selected.
func (w *why) rules(s *Subscription) {
	s.topic.mu.Lock()
	reach := s.reach
	offered := s.topic.offered - s.reach.from
	var rules []string
	for _, r := range s.decisions.rules {
		rules = append(rules, "'"+r.options.Name+"' "+r.options.condition())
	}
	s.topic.mu.Unlock()
	const fix = "Compare the filters with the messages: a property that a message lacks is unknown, the text '5' is " +
		"not the number 5, and system properties need the prefix sys. (or a correlation filter)."
	empty := w.total[Main] == 0
	sent := count(offered, "message")
	switch since := w.when(reach.since); {
	case len(rules) == 0:
		w.find(FindNoRules, empty, "Add a rule; one with the filter 1=1 selects everything.",
			"%s has no rules, so it gets no messages.", w.q.path)
	case offered > 0 && reach.selected == 0:
		w.find(FindRulesMatchNone, empty, fix, "The rules of %s selected none of %s sent to the topic since %s: %s.",
			w.q.path, sent, since, listed(rules))
	case offered > reach.selected:
		w.find(FindRulesLeaveOut, false, fix,
			"The rules of %s selected %s of %s sent to the topic since %s, the last one at %s: %s.",
			w.q.path, grouped(reach.selected), sent, since, w.when(reach.last), listed(rules))
	}
}

// condition returns the filter of a rule, for people.
func (o *RuleOptions) condition() string {
	c := o.Correlation
	if c == nil {
		return o.SQL
	}
	var parts []string
	for _, f := range []struct {
		name string
		text *string
	}{
		{"ContentType", c.ContentType}, {"CorrelationId", c.CorrelationID}, {"MessageId", c.MessageID},
		{"ReplyTo", c.ReplyTo}, {"ReplyToSessionId", c.ReplyToSessionID}, {"SessionId", c.SessionID},
		{"Subject", c.Label}, {"To", c.To},
	} {
		if f.text != nil {
			parts = append(parts, fmt.Sprintf("%s = %q", f.name, *f.text))
		}
	}
	for name, value := range c.Properties {
		parts = append(parts, fmt.Sprintf("%s = %T %v", name, value, value))
	}
	slices.Sort(parts)
	return "correlation of " + strings.Join(parts, ", ")
}

// receivers finds out whether somebody asks for messages, unless no receiver can attach: then entity has said so.
func (w *why) receivers() {
	if w.d.Has(FindTopic) || w.d.Has(FindNoSubscriptions) || w.d.Has(FindDisabled) || w.d.Has(FindForwards) {
		return
	}
	switch {
	case len(w.here) == 0:
		w.noReceivers()
	case !w.asking && w.available > 0:
		w.noCredit()
	case w.available > 0:
		w.selectors()
	}
	if w.sessions() {
		w.sessionReceivers()
	}
}

// noReceivers says that no receiver is attached, and where the client's are instead.
func (w *why) noReceivers() {
	if len(w.others) > 0 {
		var others []string
		for _, a := range w.others {
			others = append(others, fmt.Sprintf("%s at %s", a.Client, a.Sub.Join(w.q.path)))
		}
		w.find(FindWrongSubQueue, true, "Receive from "+w.path+", or ask about the sub-queue of the receivers.",
			"Receivers are attached to another sub-queue, and none to %s: %s.", w.path, listed(others))
		return
	}
	what := "receiver"
	if w.sessions() {
		what = "receiver with a session"
	}
	if w.ask.Client == "" {
		w.find(FindNoReceiver, true,
			"Start your receiver, and check that it uses the name of this entity.",
			"No %s is attached to %s.", what, w.path)
		return
	}
	text := fmt.Sprintf("No %s of '%s' is attached to %s", what, w.ask.Client, w.path)
	if w.everybody > 0 {
		text += "; of other clients " + isAre(int64(w.everybody), "receiver")
	}
	var elsewhere []string
	w.q.ns.EachAttached(func(q *Entity, a Attached) {
		if q != w.q && a.Client.Is(w.ask.Client) {
			elsewhere = append(elsewhere, a.Sub.Join(q.path))
		}
	})
	if len(elsewhere) > 0 {
		text += fmt.Sprintf(". It receives from %s", listed(elsewhere))
	}
	w.find(FindNoReceiver, true, "Name the client as in the list of connections: by id, container, address or link. "+
		"Then check that it uses the name of this entity.", "%s.", text)
}

// noCredit says why those who are attached don't take what is there.
func (w *why) noCredit() {
	var reasons []string
	for _, a := range w.here {
		reason := firstText(w.hindrance(a), "it asks for no messages now")
		reasons = append(reasons, fmt.Sprintf("%s: %s", a.Client, reason))
	}
	w.find(FindNoCredit, true, "Call receive again, or settle the messages received so far. With a prefetch count or "+
		"more concurrent calls a client asks for messages ahead.",
		"%s available, and no receiver takes any: %s.", isAre(w.available, "message"), listed(reasons))
}

// selectors says that the selectors of all receivers that ask for messages leave out what is there.
func (w *why) selectors() {
	var leaving []string
	for _, a := range w.here {
		switch {
		case !a.Asking:
		case a.Selector == "" || a.Available > 0:
			return
		default:
			leaving = append(leaving, fmt.Sprintf("%s: %s", a.Client, a.Selector))
		}
	}
	if len(leaving) > 0 {
		w.find(FindSelectors, true, "Send messages that the selector matches, or receive without a selector. Names of "+
			"properties are case-sensitive, and a text never equals a number.",
			"%s available, and no receiver's selector matches: %s.", isAre(w.available, "message"), listed(leaving))
	}
}

// sessionReceivers says what receivers by session miss.
func (w *why) sessionReceivers() {
	for _, a := range w.here {
		if a.Session != nil && a.Available == 0 && w.free > 0 {
			w.find(FindOtherSession, false,
				"Close the receiver when its session is empty, and accept the next one. A session processor does both.",
				"%s holds the session '%s', which has no more messages for it; free sessions with messages: %s.",
				a.Client, *a.Session, grouped(w.free))
		}
	}
	if len(w.here) == 0 {
		w.find(FindSessionRequired, false, "Accept the next available session, or one by its id, with a session "+
			"receiver or session processor.", "%s requires sessions: a receiver without one is refused.", w.path)
	}
}

// messages says where the messages are that can't be received now.
func (w *why) messages() {
	if w.d.Has(FindTopic) || w.d.Has(FindNoSubscriptions) || w.d.Has(FindForwards) {
		return
	}
	none := w.available == 0 // so that what holds messages back is the reason that nothing comes
	if none && w.total[w.ask.Sub] == 0 {
		w.empty()
	}
	if w.scheduled > 0 {
		due := "later"
		if w.due > 0 {
			due = "at " + w.when(w.due)
		}
		w.find(FindScheduled, none,
			"Wait, advance the clock, cancel the messages, or send without a scheduled enqueue time.",
			"%s scheduled; the first one is due %s.", isAre(int64(w.scheduled), "message"), due)
	}
	if w.sessions() {
		w.heldSessions(none)
	} else {
		w.locks(none)
	}
	if w.deferred > 0 {
		numbers := ""
		if len(w.numbers) > 0 {
			numbers = ", such as " + strings.ReplaceAll(strings.Trim(fmt.Sprint(w.numbers), "[]"), " ", ", ")
		}
		w.find(FindDeferred, none, "Receive deferred messages by their sequence numbers.",
			"%s deferred: receive by sequence number only%s.", isAre(int64(w.deferred), "message"), numbers)
	}
	if w.writing > 0 && none {
		w.find(FindBeingWritten, false, "Wait a moment. If this stays, the disk is slow or full: see /health.",
			"%s being written, and available after that.", isAre(int64(w.writing), "message"))
	}
	if w.ask.Sub == DeadLetter && w.parked > 0 {
		w.parking()
	}
}

// empty says that there is nothing, and what became of what there was.
func (w *why) empty() {
	past := "nothing has been sent since Minibus started"
	fix := "Send a message, and check that the sender uses this entity and this namespace."
	if w.q.subscription != nil {
		past = "nothing has arrived since Minibus started"
		fix = "Send a message that the subscription's rules select to the topic."
	}
	if t := w.traffic; t.Stored > 0 {
		past = fmt.Sprintf("since Minibus started %s arrived, %s completed, %s dead-lettered, %s expired",
			count(t.Stored, "message"), grouped(t.Completed), grouped(t.DeadLettered), grouped(t.Expired))
	}
	if w.ask.Sub != Main {
		past = "no message has been moved there, or all have been received"
	}
	w.find(FindEmpty, true, fix, "%s has no messages; %s.", w.path, past)
}

// locks says which receivers hold messages.
func (w *why) locks(none bool) {
	total := 0
	var held []string
	for _, h := range w.locked {
		total += h.messages
		by := "by " + h.client.String()
		switch {
		case h.broker:
			by = "by Minibus until the next delivery"
		case !h.known:
			by = "by a request for deferred messages"
		case h.detached:
			by += ", which has closed without settling"
		}
		until := "until " + w.when(h.first)
		if h.last != h.first {
			until = fmt.Sprintf("between %s and %s", w.when(h.first), w.when(h.last))
		}
		held = append(held, fmt.Sprintf("%s %s, %s", grouped(h.messages), by, until))
	}
	if total == 0 {
		return
	}
	amount := isAre(int64(total), "message")
	if !w.whole {
		amount = "At least " + amount
	}
	w.find(FindLocked, none, "Settle the messages where they were received, or wait until the locks expire. "+
		"The messages are then available again, with one more delivery counted.",
		"%s locked: %s.", amount, listed(held))
}

// heldSessions says which receivers hold the sessions that have messages.
func (w *why) heldSessions(none bool) {
	var held []string
	for _, h := range w.held {
		served := slices.ContainsFunc(w.here, func(a Attached) bool {
			return a.Session != nil && *a.Session == h.session && a.Available > 0
		})
		if h.messages > 0 && !served {
			held = append(held, fmt.Sprintf("'%s' with %s, by %s, until %s",
				h.session, count(int64(h.messages), "message"), h.client, w.when(h.first)))
		}
	}
	if len(held) > 0 {
		w.find(FindSessionsHeld, none && w.free == 0, "Close the receivers that hold the sessions, or "+
			"wait until the session locks expire.", "Receivers hold %s with messages: %s.",
			count(int64(len(held)), "session"), listed(held))
	}
}

// elsewhere says where messages went.
func (w *why) elsewhere() {
	if n := w.total[DeadLetter]; w.ask.Sub == Main && n > 0 && w.q.topic == nil {
		letters := DeadLetter.Join(w.q.path)
		w.find(FindDeadLettered, false,
			"Peek at "+letters+" to see each reason and description, then resubmit or purge the messages.",
			"%s in the dead-letter queue: %s.", isAre(int64(n), "message"), w.countedReasons())
	}
	if expired := w.traffic.Expired; w.ask.Sub == Main && expired > 0 {
		fix := "Receive sooner, or give messages and entity a longer time to live."
		if !w.options.DeadLetteringOnExpiration {
			fix += " To keep expired messages, dead-letter them."
		}
		w.find(FindExpired, false, fix, "%s expired since Minibus started.", count(expired, "message"))
	}
	if w.ask.Sub == Main || w.total[w.ask.Sub] > 0 {
		return
	}
	for i, n := range w.total {
		if path := SubQueue(i).Join(w.q.path); n > 0 {
			w.find(FindWrongSubQueue, false, "If you mean those, receive from "+path+".",
				"%s in %s.", isAre(int64(n), "message"), path)
		}
	}
}

// countedReasons names the reasons of dead letters, the most frequent ones first.
func (w *why) countedReasons() string {
	var reasons []string
	for r := range w.reasons {
		reasons = append(reasons, r)
	}
	slices.SortFunc(reasons, func(a, b string) int {
		if w.reasons[a] != w.reasons[b] {
			return w.reasons[b] - w.reasons[a]
		}
		return strings.Compare(a, b)
	})
	texts := make([]string, len(reasons))
	for i, r := range reasons {
		texts[i] = fmt.Sprintf("%s %s", grouped(w.reasons[r]), firstText(r, "without a reason"))
	}
	return listed(texts)
}

// refusals names what was refused a short while ago.
func (w *why) refusals() {
	const most = 3
	n := 0
	var list []string
	keys := false
	var identities, fixes []string
	for _, r := range w.ask.Refusals {
		if !w.concerns(&r) {
			continue
		}
		switch {
		case r.Fix != "":
			if !slices.Contains(fixes, r.Fix) && len(fixes) < most {
				fixes = append(fixes, r.Fix)
			}
		case r.Condition == "amqp:unauthorized-access" || r.Condition == "com.microsoft:auth-failed":
			keys = keys || r.Identity == ""
			if r.Identity != "" && !slices.Contains(identities, r.Identity) && len(identities) < most {
				identities = append(identities, r.Identity)
			}
		}
		if n++; n <= most {
			list = append(list, fmt.Sprintf("at %s the %s of %s: %s (%s)", r.At.UTC().Format("15:04:05.000Z"),
				r.Operation, refused(r.Client), strings.TrimSuffix(r.Text, "."), r.Condition))
		}
	}
	if n == 0 {
		return
	}
	text := strings.Join(list, "; ")
	if n > most {
		text += fmt.Sprintf("; and %d more", n-most)
	}
	if len(identities) > 0 {
		role := "Azure Service Bus Data Receiver on " + w.q.path
		if w.q.topic != nil {
			role = "Azure Service Bus Data Sender on " + w.q.path +
				", and to receive Azure Service Bus Data Receiver on its subscription,"
		}
		fixes = append(fixes, "Assign "+role+" to the identity with the object id "+listed(identities)+".")
	}
	switch policy := "Give the client a key, or a token made with it, whose policy has the "; {
	case keys && w.q.topic != nil:
		fixes = append(fixes,
			policy+"Send right for "+w.q.path+", and to receive the Listen right for its subscription.")
	case keys:
		fixes = append(fixes, policy+"Listen right for "+w.q.path+".")
	case len(fixes) == 0:
		fixes = append(fixes, "Each refusal says what to change in the client.")
	}
	fix := strings.Join(fixes, " ")
	w.find(FindRefused, false, fix, "Minibus refused %s lately: %s.", count(int64(n), "attempt"), text)
}

// refused names a client that was refused, which has no link.
func refused(c *Client) string {
	if c == nil {
		return "a client"
	}
	return fmt.Sprintf("connection %s (%s, %s)", c.Connection, firstText(c.Container, c.Product, "no name"), c.Remote)
}

// concerns reports whether a refusal is about the entity, or everything, and about the client.
func (w *why) concerns(r *Refusal) bool {
	if r.Entity != "" && (!strings.EqualFold(r.Entity, w.q.path) || r.Sub != w.ask.Sub && r.Operation == "attach") {
		return false
	}
	return w.ask.Client == "" || r.Client.Is(w.ask.Client)
}

// beyond says what was sent that Azure would have refused.
func (w *why) beyond() {
	for _, n := range w.q.Beyond() {
		w.find(FindBeyondAzure, false,
			"Stay within the limit, or start Minibus with --limits standard to be refused here too.",
			"Azure would have refused %s: %s (%s)", count(n.Count, "operation"), n.Text, n.Rule)
	}
}
