package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"minibus/mgmt/control/api"
)

func (a *app) sessionsCommand() *cobra.Command {
	return group("sessions", "sessions of an entity: list them, read and write their state, break a lock",
		"Uses the control API of a Minibus. ENTITY is a queue, or a subscription as TOPIC/SUBSCRIPTION. The "+
			"session with the empty id is written as ''.",
		a.sessionsList(), a.sessionsShow(), a.sessionsSet(), a.sessionsClear(), a.sessionsBreak())
}

// controlPath returns the path, for the control API, of what an address means.
func (a *app) controlPath(ctx context.Context, arg string, f subQueueFlags) (string, error) {
	at, err := parseAddress(arg, f)
	if err != nil {
		return "", err
	}
	whole := at
	at.sub = 0
	suffix := strings.TrimPrefix(whole.String(), at.String())
	if at.topic == "" {
		return at.queue + suffix, nil
	}
	path := at.topic + "/Subscriptions/" + at.subscription
	if at.unsure {
		var f *failure
		switch err := a.control(ctx, http.MethodGet, inThis("entities", path), nil, nil); {
		case errors.As(err, &f) && f.code == exitNotFound:
			path = at.queue
		case err != nil:
			return "", err
		}
	}
	return path + suffix, nil
}

// ofSession runs a command about one session with the path of the session.
func (a *app) ofSession(use, short string, do func(ctx context.Context, path string, args []string) error,
	more ...string) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: Arguments(append([]string{"ENTITY", "SESSION"}, more...)...),
		RunE: func(cmd *cobra.Command, args []string) error {
			entity, err := a.controlPath(cmd.Context(), args[0], subQueueFlags{})
			if err != nil {
				return err
			}
			id := args[1]
			if id == "" {
				id = "$empty"
			}
			if err := do(cmd.Context(), inThis("entities", entity, "sessions", id), args); err != nil {
				return a.about(fmt.Sprintf("session %q of %s", args[1], args[0]), err)
			}
			return nil
		}}
}

func (a *app) sessionsList() *cobra.Command {
	return &cobra.Command{Use: "ls ENTITY", Aliases: []string{"list"},
		Short: "list the sessions that have a message, a state or a holder", Args: Arguments("ENTITY"),
		Example: "  minibus sessions ls orders\n  minibus sessions ls events/audit -o jsonl",
		RunE: func(cmd *cobra.Command, args []string) error {
			entity, err := a.controlPath(cmd.Context(), args[0], subQueueFlags{})
			if err != nil {
				return err
			}
			a.out.list("SESSION", "ACTIVE", "LOCKED", "DEFERRED", "SCHEDULED", "STATE", "HOLDER", "LOCKED-UNTIL")
			query := url.Values{"limit": {"1000"}}
			_, err = listPages(cmd.Context(), a, inThis("entities", entity, "sessions"), query,
				func(s *api.Session) []string {
					return []string{s.ID, number(&s.Active), number(&s.Locked), number(&s.Deferred),
						number(&s.Scheduled), number(s.StateBytes),
						text(s.Holder), stamp(s.LockedUntil)}
				})
			return a.about("list the sessions of "+args[0], err)
		}}
}

func (a *app) sessionsShow() *cobra.Command {
	return a.ofSession("show ENTITY SESSION", "show a session with its state",
		func(ctx context.Context, path string, _ []string) error {
			var s struct {
				api.Session
				State *api.SessionState `json:"state,omitempty"`
			}
			if err := a.control(ctx, http.MethodGet, path, nil, &s); err != nil {
				return err
			}
			shown := ""
			if s.StateBytes != nil {
				s.State = &api.SessionState{}
				if err := a.control(ctx, http.MethodGet, path+"/state", nil, s.State); err != nil {
					return err
				}
				if shown = text(s.State.Text); s.State.Text == nil {
					shown = fmt.Sprintf("%x", s.State.Base64)
				}
			}
			return a.out.one(s, [2]string{"session", s.ID}, [2]string{"active", number(&s.Active)},
				[2]string{"locked", number(&s.Locked)}, [2]string{"deferred", number(&s.Deferred)},
				[2]string{"scheduled", number(&s.Scheduled)}, [2]string{"holder", text(s.Holder)},
				[2]string{"locked-until", stamp(s.LockedUntil)},
				[2]string{"state-updated", stamp(s.StateUpdated)}, [2]string{"state", shown})
		})
}

func (a *app) sessionsSet() *cobra.Command {
	file := ""
	c := a.ofSession("set ENTITY SESSION [STATE]", "write the state of a session",
		func(ctx context.Context, path string, args []string) error {
			var s api.SessionState
			switch {
			case len(args) > 2 && file != "", len(args) == 2 && file == "":
				return Usage("sessions set: give the state as STATE or with --file")
			case file == "-":
				data, err := io.ReadAll(a.env.Stdin)
				if err != nil {
					return fmt.Errorf("read standard input: %w", err)
				}
				s.Base64 = data
			case file != "":
				data, err := os.ReadFile(file)
				if err != nil {
					return Usage("--file: %v", err)
				}
				s.Base64 = data
			default:
				s.Text = &args[2]
			}
			if err := a.control(ctx, http.MethodPut, path+"/state", s, nil); err != nil {
				return err
			}
			done := map[string]any{"session": args[1], "set": true}
			return a.out.done(done, "wrote the state of the session %s", args[1])
		}, "[STATE]")
	c.Flags().StringVar(&file, "file", "", "read the state from this `file`; - for standard input")
	return c
}

func (a *app) sessionsClear() *cobra.Command {
	return a.ofSession("clear ENTITY SESSION", "clear the state of a session",
		func(ctx context.Context, path string, args []string) error {
			if err := a.control(ctx, http.MethodDelete, path+"/state", nil, nil); err != nil {
				return err
			}
			done := map[string]any{"session": args[1], "cleared": true}
			return a.out.done(done, "cleared the state of the session %s", args[1])
		})
}

func (a *app) sessionsBreak() *cobra.Command {
	return a.ofSession("break ENTITY SESSION", "take the lock of a session from its holder, as when its time is "+
		"over", func(ctx context.Context, path string, args []string) error {
		if err := a.control(ctx, http.MethodPost, path+"/break", nil, nil); err != nil {
			return err
		}
		return a.out.done(map[string]any{"session": args[1], "broken": true}, "broke the lock of the session %s",
			args[1])
	})
}
