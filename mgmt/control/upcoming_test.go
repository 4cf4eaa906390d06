package control_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"minibus/emulator"
)

// TestControlAPIShowsASchedule of a queue, step by step, and the messages of a step.
func TestControlAPIShowsASchedule(t *testing.T) { controlAPI(t).schedules() }

func (a *openAPI) schedules() {
	t := a.t
	a.queueWith("due", emulator.QueueOptions{})
	const one = inDefault + "due/schedule"
	wants(t, a.as("root", "GET", one, ""), 200, `"total":0`, `"steps":[]`)
	begin := time.Now().UTC().Truncate(time.Hour).Add(2 * time.Hour)
	text := func(after time.Duration) string { return begin.Add(after).Format(time.RFC3339) }
	wants(t, a.as("root", "POST", inDefault+"due/messages", fmt.Sprintf(`[{"scheduledEnqueueTime":%q},{"scheduledEnqueueTime":%q},{"scheduledEnqueueTime":%q},{}]`,
		text(30*time.Second), text(59*time.Minute), text(25*time.Hour))), 201)
	wants(t, a.as("root", "GET", one+"?from="+text(30*time.Second)+"&step=PT1M&steps=60", ""), 200, `"total":3`, fmt.Sprintf(`"next":%q`, text(30*time.Second)),
		fmt.Sprintf(`"from":%q`, text(0)), fmt.Sprintf(`"to":%q`, text(time.Hour)),
		fmt.Sprintf(`"steps":[{"from":%q,"messages":1},{"from":%q,"messages":1}]`, text(0), text(59*time.Minute)))
	wants(t, a.as("root", "GET", one+"?from="+text(0)+"&step=P1D&steps=2", ""), 200, fmt.Sprintf(`"steps":[{"from":%q,"messages":2},{"from":%q,"messages":1}]`, text(0), text(24*time.Hour)))
	page := decoded[messagesPage](t, a.as("root", "GET", inDefault+"due/messages?dueAfter="+text(time.Minute)+"&dueBefore="+text(25*time.Hour), ""))
	if page.numbers() != "2" {
		t.Errorf("the messages of a step are %s", page.numbers())
	}
	for path, status := range map[string]int{"due/schedule?step=PT90S": 400, "due/schedule?step=P2D": 400, "due/schedule?step=soon": 400, "due/schedule?steps=1001": 400,
		"due/schedule?from=soon": 400, "due/schedule?from=0001-01-01T00:00:01Z": 400, "nothing/schedule": 404, "due%2F$DeadLetterQueue/schedule": 409} {
		wants(t, a.as("root", "GET", inDefault+path, ""), status, `"detail":"`)
	}
}

// TestControlAPIShowsTimesBeyondItsCalendar as the last that JSON has a form for. Clients may schedule for any time.
func TestControlAPIShowsTimesBeyondItsCalendar(t *testing.T) {
	a := controlAPI(t)
	a.queueWith("far", emulator.QueueOptions{})
	a.bus.send("far", time.Date(20_000, 1, 1, 0, 0, 0, 0, time.UTC))
	const last = `9999-12-31T23:59:59.999Z`
	wants(t, a.as("root", "GET", inDefault+"far/schedule", ""), 200, last)
	space := strings.TrimSuffix(inDefault, "entities/")
	wants(t, a.as("root", "GET", space+"clock?due=10", ""), 200, last)
	wants(t, a.as("root", "GET", space+"history", ""), 200, last)
	wants(t, a.as("root", "GET", inDefault+"far", ""), 200)
	wants(t, a.as("root", "GET", inDefault+"far/messages", ""), 200)
	wants(t, a.as("root", "GET", inDefault+"far/schedule?from=9999-12-31T23:59:00Z", ""), 400, "before the year 10000")
}
