package seed

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"minibus/internal/amqp/messagejson"
)

// Append appends a line with a message, without what only the service sets. entity is named in it unless it is empty.
// since, if it is not zero, makes the times of scheduled messages relative to it.
func Append(dst []byte, entity string, m *messagejson.Message, since time.Time) ([]byte, error) {
	c := *m
	for _, number := range []**int64{&c.SequenceNumber, &c.EnqueuedSequenceNumber, &c.SizeBytes, &c.BodyBytes} {
		*number = nil
	}
	for _, at := range []**time.Time{&c.EnqueuedTime, &c.ExpiresAt, &c.LockedUntil} {
		*at = nil
	}
	for _, text := range []*string{&c.State, &c.LockedBy, &c.LockToken, &c.DeadLetterReason, &c.DeadLetterSource} {
		*text = ""
	}
	c.DeliveryCount = nil
	if c.TimeToLive != "" && c.AbsoluteExpiryTime != nil { // they follow from it
		c.CreationTime, c.AbsoluteExpiryTime = nil, nil
	}
	scheduled := ""
	if at := c.ScheduledEnqueueTime; at != nil && !since.IsZero() {
		scheduled = fmt.Sprintf(`"scheduledEnqueueTime":"%s",`, relative(at.Sub(since)))
		c.ScheduledEnqueueTime = nil
	}
	name, err := json.Marshal(entity)
	if err != nil {
		return dst, fmt.Errorf("write a line of a seed: %w", err)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(&c); err != nil {
		return dst, fmt.Errorf("write a line of a seed: %w", err)
	}
	text := bytes.TrimSpace(b.Bytes())
	dst = append(dst, '{')
	if entity != "" {
		dst = fmt.Appendf(dst, `"entity":%s,`, name)
	}
	dst = append(dst, scheduled...)
	if len(text) == 2 && dst[len(dst)-1] == ',' {
		dst = dst[:len(dst)-1]
	}
	dst = append(dst, protect(text)[1:]...)
	return append(dst, '\n'), nil
}

// relative returns the placeholder of a time that is so much later than now.
func relative(d time.Duration) string {
	sign, d := "+", d.Round(time.Second)
	if d < 0 {
		sign, d = "-", -d
	}
	text := ""
	for _, u := range []struct {
		name string
		d    time.Duration
	}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}} {
		if n := d / u.d; n > 0 {
			text += fmt.Sprintf("%d%s", n, u.name)
			d -= n * u.d
		}
	}
	if text == "" {
		return "{{now}}"
	}
	return "{{now" + sign + text + "}}"
}
