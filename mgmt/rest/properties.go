package rest

import (
	"encoding/json"
	"math"
	"net/http"
	"strings"
	"time"
)

// Properties are the broker's properties of a message to send, under the names of BrokerProperties
// (management-rest 7.1). Nil means that the sender left one out; an empty session id is a session id (SESS-2).
type Properties struct {
	ContentType, CorrelationID, Label, MessageID, PartitionKey *string
	ReplyTo, ReplyToSessionID, SessionID, To, ViaPartitionKey  *string
	TTL                                                        int64     // milliseconds; 0: none
	Scheduled                                                  time.Time // zero: at once
}

// parseProperties reads the value of a BrokerProperties header: one JSON object. Names are compared with case; like the
// service, it skips unknown ones. An empty header has no properties.
func parseProperties(header string) (Properties, error) {
	var p Properties
	if header == "" {
		return p, nil
	}
	// Use a map, since encoding/json would match the fields of a struct without case.
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(header), &fields); err != nil {
		return p, errorf("BrokerProperties is not a JSON object: %v.", err)
	}
	return p, p.set(fields)
}

// texts returns the fields of the properties that are texts, by name.
func (p *Properties) texts() map[string]**string {
	return map[string]**string{
		"ContentType":      &p.ContentType,
		"CorrelationId":    &p.CorrelationID,
		"Label":            &p.Label,
		"MessageId":        &p.MessageID,
		"PartitionKey":     &p.PartitionKey,
		"ReplyTo":          &p.ReplyTo,
		"ReplyToSessionId": &p.ReplyToSessionID,
		"SessionId":        &p.SessionID,
		"To":               &p.To,
		"ViaPartitionKey":  &p.ViaPartitionKey,
	}
}

func (p *Properties) set(fields map[string]json.RawMessage) error {
	for name, to := range p.texts() {
		raw, given := fields[name]
		if !given || string(raw) == "null" {
			continue
		}
		var s string
		if json.Unmarshal(raw, &s) != nil {
			return errorf("The property '%s' of BrokerProperties is not a string.", name)
		}
		*to = &s
	}
	if err := p.setTTL(fields); err != nil {
		return err
	}
	if err := p.setScheduled(fields["ScheduledEnqueueTimeUtc"]); err != nil {
		return err
	}
	if p.SessionID != nil && p.PartitionKey != nil && *p.SessionID != *p.PartitionKey {
		return errorf("The PartitionKey %s of the message differs from its SessionId %s; if both are set they must "+
			"be equal.",
			clip(*p.PartitionKey), clip(*p.SessionID))
	}
	return nil
}

// setTTL reads the time to live, in seconds or else as a time span. The service's value for a message that never
// expires is more than the broker can count to, and means none here too.
func (p *Properties) setTTL(fields map[string]json.RawMessage) error {
	seconds, given := fields["TimeToLive"], true
	var ms float64
	switch span := fields["TimeToLiveTimeSpan"]; {
	case len(seconds) > 0 && string(seconds) != "null":
		v, ok := number(seconds)
		if !ok {
			return errorf("The property 'TimeToLive' of BrokerProperties is not a number of seconds.")
		}
		ms = upToMillis(v * 1e7)
	case len(span) > 0 && string(span) != "null":
		var s string
		d, ok := time.Duration(0), json.Unmarshal(span, &s) == nil
		if ok {
			d, ok = parseClock(s)
		}
		if !ok {
			return errorf("The property 'TimeToLiveTimeSpan' of BrokerProperties is not a time span such as " +
				"0.00:00:40.")
		}
		ms = upToMillis(float64(d) / 100)
	default:
		given = false
	}
	switch {
	case !given || ms >= endless:
	case ms <= 0:
		return errorf("The time to live of a message must be positive.")
	default:
		p.TTL = int64(ms)
	}
	return nil
}

// number reads a JSON number, also in quotes as .NET takes it: some clients write every value as text.
func number(raw json.RawMessage) (v float64, ok bool) {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		raw = json.RawMessage(strings.TrimSpace(s))
	}
	return v, string(raw) != "null" && json.Unmarshal(raw, &v) == nil
}

// upToMillis rounds ticks of 100 ns up to milliseconds, after rounding off floating-point errors: 0.029 seconds make
// 29.
func upToMillis(ticks float64) float64 {
	if ticks > 0 && ticks < 1 {
		return 1
	}
	return math.Ceil(math.Round(ticks) / 10_000)
}

// endless is the time to live, in milliseconds, from which a message never expires: some 290 years, the longest
// time.Duration.
const endless = math.MaxInt64 / 1_000_000

func (p *Properties) setScheduled(raw json.RawMessage) error {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		var ok bool
		if p.Scheduled, ok = parseDate(s); ok {
			due := p.Scheduled.Truncate(time.Millisecond)
			if next := due.Add(time.Millisecond); due.Before(p.Scheduled) && dotnetYear(next) {
				due = next // never before it is due (TIME-3)
			}
			p.Scheduled = due
			return nil
		}
	}
	return errorf("The property 'ScheduledEnqueueTimeUtc' of BrokerProperties is not a date such as %q.",
		http.TimeFormat)
}
