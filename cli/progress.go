package cli

import (
	"fmt"
	"time"
)

// progress shows on a terminal how far a long work is. It writes to standard error, and nothing if that is no terminal.
type progress struct {
	app   *app
	what  string
	total int // 0: not known
	last  time.Time
	wrote bool
}

func (a *app) progress(what string, total int) *progress {
	return &progress{app: a, what: what, total: total}
}

// step shows the number, a few times a second at most.
func (p *progress) step(n int) {
	if !terminal(p.app.env.Stderr) || time.Since(p.last) < 200*time.Millisecond {
		return
	}
	p.last, p.wrote = time.Now(), true
	of := ""
	if p.total > 0 {
		of = fmt.Sprintf(" of %d (%d %%)", p.total, n*100/p.total)
	}
	_, _ = fmt.Fprintf(p.app.env.Stderr, "\r%s %d%s\x1b[K", p.what, n, of)
}

// end takes the line away.
func (p *progress) end() {
	if p != nil && p.wrote {
		_, _ = fmt.Fprint(p.app.env.Stderr, "\r\x1b[K")
	}
}
