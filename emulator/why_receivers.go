package emulator

import (
	"fmt"
	"strings"
)

// receivers finds out whether somebody asks for messages. Where nobody can, the entity's own findings say so.
func (w *why) receivers() {
	if w.closed() {
		return
	}
	switch {
	case len(w.here) == 0:
		w.nobody()
	case !w.asking && w.available > 0:
		w.noCredit()
	}
	if w.sessions() {
		w.sessionReceivers()
	}
}

// closed reports whether no receiver can attach.
func (w *why) closed() bool {
	return w.d.Has(FindTopic) || w.d.Has(FindNoSubscriptions) || w.d.Has(FindDisabled) || w.d.Has(FindForwards)
}

// nobody says that no receiver is attached, and where the client's are instead.
func (w *why) nobody() {
	if len(w.others) > 0 {
		var places []string
		for _, a := range w.others {
			places = append(places, fmt.Sprintf("%s at %s", a.Client, a.Sub.Join(w.q.path)))
		}
		w.find(FindWrongSubQueue, true, "Receive from "+w.path+", or ask why nothing comes from where they are.",
			"Receivers are attached to another sub-queue, and none to %s: %s.", w.path, listed(places))
		return
	}
	what := "receiver"
	if w.sessions() {
		what = "receiver with a session"
	}
	if w.ask.Client == "" {
		w.find(FindNoReceiver, true, "Start the program that receives, and compare the name of the entity that it uses with this one.",
			"No %s is attached to %s.", what, w.path)
		return
	}
	text := fmt.Sprintf("No %s of '%s' is attached to %s", what, w.ask.Client, w.path)
	if w.everybody > 0 {
		text += "; of other clients " + isAre(int64(w.everybody), "receiver")
	}
	if at := w.q.ns.placesOf(w.ask.Client, w.q); len(at) > 0 {
		text += fmt.Sprintf(". It receives from %s", listed(at))
	}
	w.find(FindNoReceiver, true, "Name the client as the list of connections does: by id, container, address or link. Then compare the entity that it uses with this one.", "%s.", text)
}

// placesOf returns from where else a client receives.
func (ns *Namespace) placesOf(client string, but *Entity) (paths []string) {
	ns.EachAttached(func(q *Entity, a Attached) {
		if q != but && a.Client.Is(client) {
			paths = append(paths, a.Sub.Join(q.path))
		}
	})
	return paths
}

// noCredit says why those who are attached don't take what is there.
func (w *why) noCredit() {
	var reasons []string
	for _, a := range w.here {
		why := w.hindrance(a)
		if why == "" {
			why = "it asks for no messages now"
		}
		reasons = append(reasons, fmt.Sprintf("%s: %s", a.Client, why))
	}
	w.find(FindNoCredit, true, "Call receive again, or settle what was received: a client asks for more when its program does. A prefetch, or more concurrent calls, keeps messages coming.",
		"%s available, and no receiver takes any: %s.", isAre(w.available, "message"), listed(reasons))
}

// sessionReceivers says what receivers by session miss.
func (w *why) sessionReceivers() {
	withSession := false
	for _, a := range w.here {
		withSession = true
		if a.Session != nil && a.Available == 0 && w.free > 0 {
			w.find(FindOtherSession, false, "Close the receiver when its session is drained, and accept the next session; session processors do both.",
				"%s holds the session '%s', which has no more messages for it; free sessions with messages: %d.", a.Client, *a.Session, w.free)
		}
	}
	if !withSession {
		w.find(FindSessionRequired, false, "Accept a session: the next free one, or one by its id. In the SDKs a session receiver or session processor does that.",
			"%s delivers by session, so a receiver without a session is refused.", w.path)
	}
}

// refusals names what was refused a short while ago.
func (w *why) refusals() {
	const most = 3
	var list []string
	conditions := make(map[string]bool)
	for _, r := range w.ask.Refusals {
		if !w.concerns(&r) {
			continue
		}
		if len(list) < most {
			list = append(list, fmt.Sprintf("at %s the %s of %s: %s (%s)", r.At.UTC().Format("15:04:05.000Z"), r.Operation, refused(r.Client),
				strings.TrimSuffix(r.Text, "."), r.Condition))
		} else {
			list = append(list, "")
		}
		conditions[r.Condition] = true
	}
	if len(list) == 0 {
		return
	}
	text := strings.Join(list[:min(len(list), most)], "; ")
	if more := len(list) - most; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	cure := "The texts say what to change in the client."
	switch denied := conditions["amqp:unauthorized-access"] || conditions["com.microsoft:auth-failed"]; {
	case denied && w.q.topic != nil:
		cure = "Give the client a key, or a token made with it, whose policy has the Send right for " + w.q.path + ", and to receive the Listen right for its subscription."
	case denied:
		cure = "Give the client a key, or a token made with it, whose policy has the Listen right for " + w.q.path + "."
	}
	w.find(FindRefused, false, cure, "Minibus refused %s lately: %s.", count(int64(len(list)), "attempt"), text)
}

// refused names a client that was refused: it has no link.
func refused(client *Client) string {
	if client == nil {
		return "a client"
	}
	return fmt.Sprintf("connection %s (%s, %s)", client.Connection, firstText(client.Container, client.Product, "no name"), client.Remote)
}

// concerns reports whether a refusal is about the entity, or everything, and about the client.
func (w *why) concerns(r *Refusal) bool {
	if r.Entity != "" && (!strings.EqualFold(r.Entity, w.q.path) || r.Sub != w.ask.Sub && r.Operation == "attach") {
		return false
	}
	return w.ask.Client == "" || r.Client.Is(w.ask.Client)
}
