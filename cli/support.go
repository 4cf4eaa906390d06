package cli

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"minibus/config"
	"minibus/internal/secrets"
	"minibus/mgmt/control/api"
)

// SupportPart is a file of a support bundle.
type SupportPart struct {
	Name string
	Data []byte
	Err  error // why it could not be had; nil: it was
}

const supportReadme = `A support bundle of Minibus, a local Azure Service Bus.

version.txt       version of the program, operating system and processor
settings.json     settings of the server, from its variables and flags; the root key and passwords are left out
doctor.json       what minibus doctor found, with paths of files on this machine
Config.json       the entities of the namespace with their settings and rules, without keys
entities.json     their counts
connections.json  open connections with their links: addresses, names of containers, SDKs; without ids of sessions
                  and names of links
refusals.json     links and tokens that were refused lately
clock.json        the clock of the namespace, and what is due next
history.jsonl     the last 5000 events of messages: what happened where, when and by whom
missing.txt       what could not be had, and why; only if there is something

It has no body, property, id or session of a message, and no key or signature: where a text that a client chose may
have one, it says *** instead. Names of entities, rules and clients, and addresses, are as they are. Look through it
before you give it away.
`

func (a *app) supportCommand() *cobra.Command {
	c := &cobra.Command{Use: "support-bundle [FILE] [-- SERVER FLAGS]",
		Short: "write a zip file with what helps to find a fault, without messages and keys",
		Long: "Writes a zip file, minibus-support-TIME.zip without FILE, in which are:\n\n" +
			supportReadme[bytes.IndexByte([]byte(supportReadme), '\n')+2:] +
			"\nIt works without a server too. If your server has flags, write them after --. The contents come " +
			"from the control API; with --auth sas that needs a key of the default\nnamespace with the Manage right.",
		Example: "  minibus support-bundle\n  minibus support-bundle fault.zip -- --data bus.db"}
	c.Args = func(cmd *cobra.Command, args []string) error {
		if n := cmd.ArgsLenAtDash(); n > 1 || n < 0 && len(args) > 1 {
			return Usage("support-bundle takes one FILE; flags of the server come after --")
		}
		return nil
	}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		file, flags := time.Now().Format("minibus-support-20060102-150405.zip"), args
		if n := cmd.ArgsLenAtDash(); n == 1 || n < 0 && len(args) == 1 {
			file, flags = args[0], args[1:]
		}
		return a.support(cmd.Context(), file, flags)
	}
	return c
}

// support writes a bundle.
func (a *app) support(ctx context.Context, file string, serverFlags []string) error {
	settings, err := a.serverSettings(serverFlags)
	if err != nil {
		return a.about("support-bundle", err)
	}
	if err := a.connect(); err != nil {
		return err
	}
	parts := append([]SupportPart{{Name: "README.txt", Data: []byte(supportReadme)},
		jsonPart("doctor.json", redactFindings(a.env.Examine(ctx, settings)), nil)},
		a.env.SupportParts(ctx, settings, a.entitySource())...)
	parts = append(parts, a.supportState(ctx)...)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return a.writeSupport(file, parts)
}

// writeSupport writes the zip file. It does not write over one.
func (a *app) writeSupport(file string, parts []SupportPart) error {
	var buffer, missing bytes.Buffer
	archive := zip.NewWriter(&buffer)
	names := []string{}
	add := func(name string, text []byte) error {
		w, err := archive.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: time.Now()})
		if err == nil {
			_, err = w.Write(a.redactPart(name, text))
		}
		names = append(names, name)
		return err
	}
	for _, p := range parts {
		if p.Err != nil {
			fmt.Fprintf(&missing, "%s: %v\n", p.Name, p.Err)
			continue
		}
		if err := add(p.Name, p.Data); err != nil {
			return fmt.Errorf("make the bundle: %w", err)
		}
	}
	if missing.Len() > 0 {
		if err := add("missing.txt", missing.Bytes()); err != nil {
			return fmt.Errorf("make the bundle: %w", err)
		}
		a.note("some parts are missing; missing.txt in the bundle says why")
	}
	if err := archive.Close(); err != nil {
		return fmt.Errorf("make the bundle: %w", err)
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the user names it
	if errors.Is(err, fs.ErrExist) {
		return failed(exitFailed, "support-bundle: %s exists: remove it, or name another file", oneLine(file))
	}
	if err == nil {
		_, err = f.Write(buffer.Bytes())
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return failed(exitFailed, "support-bundle: %v", err)
	}
	return a.out.done(map[string]any{"file": file, "bytes": buffer.Len(), "parts": names},
		"wrote %s (%s KiB); look through it before you give it away", file, config.Thousands(buffer.Len()>>10))
}

// redactPart removes keys and signatures from a file of the bundle.
func (a *app) redactPart(name string, text []byte) []byte {
	hider := secrets.New(a.target.Key, a.target.Signature, a.signIn.secret(), a.variable("MINIBUS_ROOT_KEY"))
	if strings.HasSuffix(name, ".json") || strings.HasSuffix(name, ".jsonl") {
		return hider.JSON(text)
	}
	return []byte(hider.Text(string(text)))
}

func jsonPart(name string, v any, err error) SupportPart {
	if err != nil {
		return SupportPart{Name: name, Err: err}
	}
	text, err := json.MarshalIndent(v, "", "  ")
	return SupportPart{Name: name, Data: append(text, '\n'), Err: err}
}

// supportEvents is how many events a bundle has at most.
const supportEvents = 5000

// supportState returns what the control API shows, without what clients put into messages.
func (a *app) supportState(ctx context.Context) []SupportPart {
	var clock json.RawMessage
	err := a.control(ctx, http.MethodGet, inThis("clock"), nil, &clock)
	parts := []SupportPart{jsonPart("clock.json", clock, err)}
	entities, err := a.supportList(ctx, "entities")
	parts = append(parts, jsonPart("entities.json", entities, err))
	connections, err := a.supportList(ctx, "connections")
	for _, c := range connections {
		links, _ := c["links"].([]any)
		for _, l := range links {
			without(l, "sessionId", "name")
		}
	}
	parts = append(parts, jsonPart("connections.json", connections, err))
	refusals, err := a.supportList(ctx, "refusals")
	for _, r := range refusals {
		without(r["client"], "link")
		if text, _ := r["text"].(string); text != "" {
			r["text"] = withoutSession(text)
		}
	}
	parts = append(parts, jsonPart("refusals.json", refusals, err))
	history, err := a.supportHistory(ctx)
	return append(parts, SupportPart{Name: "history.jsonl", Data: history, Err: err})
}

// supportList returns all items of a list.
func (a *app) supportList(ctx context.Context, of string) (all []map[string]any, err error) {
	all = []map[string]any{}
	query := url.Values{}
	if of != "refusals" {
		query.Set("limit", "1000")
	}
	for {
		var page struct {
			Items []map[string]any
			Next  string
		}
		if err := a.control(ctx, http.MethodGet, inThis(of)+"?"+query.Encode(), nil, &page); err != nil {
			return nil, err
		}
		if all = append(all, page.Items...); page.Next == "" {
			return all, nil
		}
		query.Set("cursor", page.Next)
	}
}

// ownDetails are the kinds of events whose detail is the name of a rule or an entity.
var ownDetails = []string{"copied", "forwarded", "forwardedHere"}

// ownReasons are those for which the service dead-letters messages. A program chooses others.
var ownReasons = []string{"MaxDeliveryCountExceeded", "TTLExpiredException", "HeaderSizeExceeded",
	"MaxTransferHopCountExceeded", "Session ID is null."}

// supportHistory returns the last events, a line each, the oldest first. Ids and sentences are left out: clients
// choose what is in them.
func (a *app) supportHistory(ctx context.Context) ([]byte, error) {
	var events []api.Event
	for cursor := int64(0); len(events) < supportEvents; {
		var page api.HistoryPage
		if err := a.control(ctx, http.MethodGet,
			inThis("history")+"?"+eventPageQuery("newest", cursor, eventPageSize).Encode(), nil, &page); err != nil {
			return nil, err
		}
		events, cursor = append(events, page.Items...), page.Next
		if len(page.Items) < eventPageSize {
			break
		}
	}
	var lines bytes.Buffer
	for _, e := range slices.Backward(events) {
		if e.Detail != "" && !slices.Contains(ownDetails, e.Kind) && !slices.Contains(ownReasons, e.Detail) {
			e.Detail = "***"
		}
		e.MessageID = ""
		e.Text = ""
		if e.Client != nil {
			e.Client.Link = ""
		}
		line, err := encode(e, "")
		if err != nil {
			return nil, err
		}
		lines.Write(line)
	}
	return lines.Bytes(), nil
}

// redactFindings returns the findings without what clients were told of sessions.
func redactFindings(all []Finding) []Finding {
	all = slices.Clone(all)
	for i := range all {
		all[i].Detail = withoutSession(all[i].Detail)
	}
	return all
}

// withoutSession returns a text, or stars if it may have the id of a session.
func withoutSession(text string) string {
	if strings.Contains(strings.ToLower(text), "session") {
		return "***"
	}
	return text
}

// without removes members of an object.
func without(object any, names ...string) {
	o, _ := object.(map[string]any)
	for _, name := range names {
		delete(o, name)
	}
}
