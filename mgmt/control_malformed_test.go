package mgmt

import (
	"strings"
	"testing"

	"minibus/emulator"
)

// TestControlAPIShowsMalformedMessages with a note, and their neighbours as usual.
func TestControlAPIShowsMalformedMessages(t *testing.T) {
	a := controlAPI(t)
	const all = inDefault + "work/messages"
	a.queueWith("work", emulator.QueueOptions{})
	nested := "\x40"
	for range 40 {
		nested = "\xc0" + string(rune(len(nested)+1)) + "\x01" + nested
		if len(nested) > 120 {
			break
		}
	}
	values := []string{"\xa1\x02\xff\xfe", "\xa3\x02\xff\xfe", "\x56\x07", nested, "\xd0\x00\x00\x00\x04\xff\xff\xff\xff", "\xf0\x00\x00\x00\x05\xff\xff\xff\xff\x40", "\xd1\x00\x00\x00\x05\x00\x00\x00\x01\x40", "\x73\x00\x11\x00\x00"}
	a.bus.sendRaw("work", []byte("\x00\x53\x75\xa0\x04good"))
	for _, v := range values {
		properties := "\x02\xa1\x01a" + v
		a.bus.sendRaw("work", []byte("\x00\x53\x74\xc1"+string([]byte{byte(len(properties))})+properties+"\x00\x53\x75\xa0\x03bad"))
	}
	a.bus.sendRaw("work", []byte("\x00\x53\x77\x73\x00\x11\x00\x00"))
	a.bus.sendRaw("work", []byte("\x00\x53\x75\xa0\x06second"))
	for _, w := range []string{a.as("root", "GET", all, "").Body.String(), a.as("root", "POST", inDefault+"work/receive", `{"max":20}`).Body.String()} {
		if strings.Count(w, `"malformed":[{"section":"applicationProperties","error":"`) < 6 || strings.Count(w, `"section":"body"`) != 1 || !strings.Contains(w, `"body":"good"`) ||
			!strings.Contains(w, `"body":"bad"`) || !strings.Contains(w, `"body":"second"`) {
			t.Errorf("malformed messages among others are shown as %s", w)
		}
	}
	wants(t, a.as("root", "GET", all+"/9", ""), 200, `"malformed":[{"section":"applicationProperties","error":"`, `"bytesBase64":"AFN0wQkCoQFhcwARAAA="`, `"bytes":14`)
	wants(t, a.as("root", "GET", all+"/10", ""), 200, `"section":"body"`)
	wants(t, a.as("root", "GET", all+"/10/body", ""), 200)
	wants(t, a.as("root", "POST", all, `{"body":"x","malformed":[{"section":"body","error":"e","bytesBase64":"","bytes":0}]}`), 400, "malformed: the message is not whole")
}
