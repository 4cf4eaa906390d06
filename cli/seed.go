package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"minibus/config"
	"minibus/internal/seed"
	"minibus/mgmt/control/api"
)

func (a *app) seedCommand() *cobra.Command {
	return group("seed", "the messages of a namespace of a Minibus as files: save them, send them again",
		"A seed is a file of JSON lines with messages and their entities, or a directory of such files.\n"+
			"minibus --seed sends one when it starts. docs/seed.md describes it.\n"+controlHelp,
		a.seedSave(), a.seedSend())
}

func (a *app) seedSave() *cobra.Command {
	c := &cobra.Command{Use: "save [ENTITY...]", Short: "write the messages of entities as a seed",
		Args: Arguments("[ENTITY]..."),
		Long: `Writes messages, with those of dead-letter queues, as JSON lines to standard output, or with --dir to a
file for each queue: orders.jsonl, orders/$DeadLetterQueue.jsonl. Without ENTITY all entities are saved; a topic
stands for its subscriptions. No message changes. What only the service sets is left out. Deferred messages are saved
as active ones, and those in transfer dead-letter queues are not saved.`,
		Example: "  minibus seed save --dir seed\n  minibus seed save orders --relative > orders.jsonl"}
	dir := c.Flags().String("dir", "", "write a file for each entity into this `directory`")
	relative := c.Flags().Bool("relative", false,
		"write the times of scheduled messages as {{now+2h}}, from now on, instead of as they are")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		s := &seedSaver{app: a, ctx: cmd.Context(), dir: *dir, files: []string{}}
		if *relative {
			now, err := a.now(s.ctx)
			if err != nil {
				return a.about("save the seed", err)
			}
			s.since = now
		}
		paths, err := s.paths(args)
		for _, path := range paths {
			if err == nil {
				err = s.save(path)
			}
		}
		if err != nil {
			return a.about("save the seed", err)
		}
		if s.deferred > 0 {
			a.note("%s, which will be active ones", config.Plural(s.deferred, "deferred message"))
		}
		if *dir == "" {
			if s.saved == 0 {
				a.note("no messages to save")
			}
			return a.out.push()
		}
		return a.out.done(map[string]any{"saved": s.saved, "files": s.files}, "saved %s in %s of %s",
			config.Plural(s.saved, "message"), config.Plural(len(s.files), "file"), *dir)
	}
	return c
}

// seedSaver writes messages as a seed.
type seedSaver struct {
	*app
	ctx   context.Context
	dir   string    // empty: to standard output
	since time.Time // zero: times stay as they are

	saved, deferred int
	files           []string
}

// paths returns the queues and sub-queues with messages of the entities that are wanted; none: of all.
func (s *seedSaver) paths(wanted []string) (paths []string, err error) {
	all, err := s.all()
	if err != nil {
		return nil, err
	}
	if len(wanted) == 0 {
		for i := range all {
			paths = append(paths, withMessages(&all[i])...)
		}
		return paths, nil
	}
	for _, arg := range wanted {
		at, err := parseAddress(arg, subQueueFlags{})
		if err != nil {
			return nil, err
		}
		some := false
		for i := range all {
			e := &all[i]
			lower := strings.ToLower(e.Path)
			for _, path := range at.paths() {
				path = strings.ToLower(path)
				found := withMessages(e)
				if at.sub != 0 {
					found = slices.DeleteFunc(found, func(p string) bool { return !strings.EqualFold(p, path) })
					path, _, _ = strings.Cut(path, "/$")
				}
				if lower == path || strings.HasPrefix(lower, path+"/subscriptions/") {
					some = true
					paths = append(paths, found...)
				}
			}
		}
		if !some {
			return nil, failed(exitNotFound, "there is no entity %s", oneLine(arg))
		}
	}
	return paths, nil
}

// all returns all entities.
func (s *seedSaver) all() (all []api.Entity, err error) {
	query := url.Values{"limit": {"1000"}}
	for {
		var page api.Page[api.Entity]
		if err := s.control(s.ctx, http.MethodGet, inThis("entities")+"?"+query.Encode(), nil, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		if page.Next == "" {
			return all, nil
		}
		query.Set("cursor", page.Next)
	}
}

// withMessages returns the queues of an entity that have messages to save.
func withMessages(e *api.Entity) (paths []string) {
	if e.Counts.Active+e.Counts.Scheduled+e.Counts.Transfer > 0 {
		paths = append(paths, e.Path)
	}
	if e.Counts.DeadLetter > 0 {
		paths = append(paths, e.Path+"/$DeadLetterQueue")
	}
	return paths
}

// save writes the messages of a queue.
func (s *seedSaver) save(path string) error {
	if s.dir == "" {
		return s.write(s.out.data, path, path)
	}
	name := seed.FileName(path)
	file := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	s.files = append(s.files, filepath.ToSlash(name))
	return errors.Join(s.write(f, path, ""), f.Close())
}

// write writes the messages of a queue, with this name in each line.
func (s *seedSaver) write(to io.Writer, path, named string) error {
	messages := inThis("entities", path, "messages")
	query := url.Values{"limit": {strconv.Itoa(peekPage)}, "properties": {"true"}, "body": {"4096"}}
	for {
		var page struct {
			Items []message
			Next  string
		}
		if err := s.control(s.ctx, http.MethodGet, messages+"?"+query.Encode(), nil, &page); err != nil {
			return err
		}
		for i := range page.Items {
			m := &page.Items[i]
			if m.BodyCut && m.SequenceNumber != nil {
				whole, err := s.whole(messages, *m.SequenceNumber)
				if isNotFound(err) {
					continue // it has gone meanwhile
				}
				if err != nil {
					return err
				}
				m = whole
			}
			if m.State == "deferred" {
				s.deferred++
			}
			line, err := seed.Append(nil, named, m, s.since)
			if err != nil {
				return err
			}
			if _, err := to.Write(line); err != nil {
				return err
			}
			s.saved++
		}
		if page.Next == "" {
			return nil
		}
		query.Set("cursor", page.Next)
	}
}

// whole returns a message with all of its body.
func (s *seedSaver) whole(messages string, number int64) (*message, error) {
	m := &message{}
	one := messages + "/" + strconv.FormatInt(number, 10)
	if err := s.control(s.ctx, http.MethodGet, one+"?body=1048576", nil, m); err != nil || !m.BodyCut {
		return m, err
	}
	if m.Body == nil && m.BodyBase64 == nil {
		return m, failed(exitFailed, "the message %d has more than 1 MiB and is no single piece of data", number)
	}
	answer, err := s.controlAnswer(s.ctx, http.MethodGet, one+"/body", nil)
	if err != nil {
		return m, err
	}
	defer func() { _ = answer.Body.Close() }()
	m.Body, m.BodyCut = nil, false
	m.BodyBase64, err = io.ReadAll(answer.Body)
	return m, err
}

func (a *app) seedSend() *cobra.Command {
	c := &cobra.Command{Use: "send PATH...", Short: "send the messages of a seed", Args: Arguments("PATH..."),
		Long: `Sends the messages of files, of directories of files that end in .jsonl, or of standard input (-), as
minibus --seed does at the start. Messages get into subscriptions and dead-letter queues too. Every line is checked
before the first message is sent. Placeholders such as {{now+1h}} and {{guid}} get their values now.`,
		Example: "  minibus seed send seed\n  minibus seed save orders | minibus seed send - -c \"$OTHER\""}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		lines, err := seed.Read(args, a.env.Stdin)
		if err != nil {
			return Usage("%v", err)
		}
		sent, err := a.sendSeed(cmd.Context(), lines)
		if err != nil {
			a.interrupted = fmt.Sprintf(", after %s sent", config.Plural(sent, "message"))
			if sent > 0 {
				err = a.about(fmt.Sprintf("after %s sent", config.Plural(sent, "message")), err)
			}
			return err
		}
		return a.out.done(map[string]any{"sent": sent}, "sent %s", config.Plural(sent, "message"))
	}
	return c
}

// Bounds of a request that sends messages of a seed.
const (
	seedBatch = 250
	seedBytes = 4 << 20 // one message may be larger
)

// sendSeed sends lines, those of an entity that follow each other together.
func (a *app) sendSeed(ctx context.Context, lines []*seed.Line) (sent int, err error) {
	now, err := a.now(ctx)
	if err != nil {
		return 0, err
	}
	for len(lines) > 0 {
		first, bytes := lines[0], 0
		var batch []json.RawMessage
		for _, l := range lines {
			another := l.Entity != first.Entity || l.Namespace != first.Namespace
			if another || len(batch) == seedBatch || bytes >= seedBytes {
				break
			}
			m, err := l.Message(now)
			if err != nil {
				return sent, Usage("%v", err)
			}
			text, err := json.Marshal(m)
			if err != nil {
				return sent, err
			}
			batch = append(batch, text)
			bytes += len(text)
		}
		path := inThis("entities", first.Entity, "messages")
		if first.Namespace != "" {
			path = "namespaces/" + url.PathEscape(first.Namespace) + strings.TrimPrefix(path, thisNamespace)
		}
		if err := a.control(ctx, http.MethodPost, path+"?put=true", batch, nil); err != nil {
			return sent, a.about(first.Place()+": send the seed to "+first.Target(), err)
		}
		sent += len(batch)
		lines = lines[len(batch):]
	}
	return sent, nil
}
