package receive

import (
	"errors"
	"net/http"
	"time"

	"minibus/emulator"
)

// answerTime is how long a client may take to read an answer with messages.
const answerTime = time.Minute

// Hand writes the answer, whose headers are set, that has the messages of deliveries, and reports whether all of it
// was sent. If not, the client has gone or its connection has broken, and Hand gives them back (LOCK-13, RAD-5). What
// is sent may still be lost on its way, as with a link.
func (w *Waiter) Hand(rw http.ResponseWriter, status int, body []byte, ds ...*emulator.Delivery) (sent bool) {
	c := http.NewResponseController(rw)
	_ = c.SetWriteDeadline(time.Now().Add(answerTime)) // the server's counts from the request's arrival
	rw.WriteHeader(status)
	_, err := rw.Write(body)
	if err == nil {
		err = c.Flush()
	}
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		w.Return(ds...)
		return false
	}
	return true
}
