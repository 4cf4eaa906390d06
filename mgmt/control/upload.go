package control

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"time"
)

// A large request has to come on: while it is read it holds memory that others wait for.
const (
	// uploadStart is how many bytes of it come before it gets its memory, so that one that is only announced holds
	// none.
	uploadStart = 64 << 10
	// uploadGrace is how long the bytes may be late.
	uploadGrace = 3 * time.Second
	// uploadRate is how many bytes there have to be for each second after that.
	uploadRate = 1 << 20
)

// upload is the body of a request that has to come on.
type upload struct {
	io.ReadCloser
	deadline func(time.Time) error // of the connection
	begin    time.Time
	got      int64
}

// Read implements io.Reader. It fails if the bytes are late.
func (u *upload) Read(p []byte) (int, error) {
	late := u.begin.Add(uploadGrace + time.Duration(u.got)*time.Second/uploadRate)
	_ = u.deadline(late) // in a test there may be no connection
	n, err := u.ReadCloser.Read(p)
	u.got += int64(n)
	if err != nil {
		_ = u.deadline(time.Now().Add(sendPatience)) // the connection is watched while the request is carried out
	}
	return n, err
}

// readStart reads the beginning of a large request into memory, and puts it back in front of the rest. whole reports
// that this is all. restart counts the time anew, which others took.
func readStart(w http.ResponseWriter, r *http.Request) (whole int64, restart func(), err error) {
	u := &upload{ReadCloser: r.Body, deadline: http.NewResponseController(w).SetReadDeadline, begin: time.Now()}
	start := make([]byte, uploadStart)
	n, err := io.ReadFull(u, start)
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(start[:n]), u), u}
	switch late := net.Error(nil); {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return int64(n), func() {}, nil
	case errors.As(err, &late) && late.Timeout():
		return 0, nil, newError(http.StatusRequestTimeout, nil,
			"The body of the request did not come: its first %d bytes may take %v.", uploadStart, uploadGrace)
	case err != nil:
		return 0, nil, badRequest("The body of the request could not be read: %v.", err)
	}
	return -1, func() { u.begin, u.got = time.Now(), 0 }, nil
}
