package cli

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"minibus/internal/entitypath"
	"minibus/mgmt/control/api"
)

func (a *app) openCommand() *cobra.Command {
	c := &cobra.Command{Use: "open [ENTITY|ENTITY#NUMBER|MESSAGE-ID]", Aliases: []string{"ui"},
		Short: "open the web explorer in your browser, and print its address", Args: Arguments("[ENTITY]"),
		Long: `Opens the explorer of the namespace, or what you name: an entity, a message by ENTITY#NUMBER, or the
trace of a message by its id. A dead-letter queue is ENTITY/$DeadLetterQueue. The address is printed in any case.
` + controlHelp,
		Example: "  minibus open\n  minibus open events/audit\n  minibus open 'orders/$DeadLetterQueue#12'\n" +
			"  minibus open order-7 --print"}
	onlyPrint := c.Flags().Bool("print", false, "only print the address")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		address, err := a.explorerAt(cmd.Context(), args)
		if err != nil {
			return a.about("open", err)
		}
		if err := a.out.done(map[string]any{"url": address}, "%s", address); err != nil || *onlyPrint {
			return err
		}
		if err := browse(address); err != nil {
			a.note("no browser could be started (%v): open the address yourself", err)
		}
		return nil
	}
	return c
}

// explorerAt returns the address of the explorer's screen for what the arguments name.
func (a *app) explorerAt(ctx context.Context, args []string) (string, error) {
	var n answered[api.Namespace]
	if err := a.control(ctx, http.MethodGet, inThis(), nil, &n); err != nil {
		return "", err
	}
	_, base, err := a.controlClient()
	if err != nil {
		return "", err
	}
	base += "/#/" + url.PathEscape(n.is.Name)
	if len(args) == 0 {
		return base, nil
	}
	path, number := args[0], ""
	if i := strings.LastIndexByte(path, '#'); i > 0 {
		if _, err := strconv.ParseUint(path[i+1:], 10, 63); err == nil {
			path, number = path[:i], path[i+1:]
		}
	}
	if at, err := parseAddress(path, subQueueFlags{}); err == nil {
		for _, p := range at.paths() {
			entity, sub := entitypath.CutSubQueue(p)
			err := a.control(ctx, http.MethodGet, inThis("entities", entity), nil, nil)
			switch {
			case err == nil:
				return base + "/entity/" + url.PathEscape(entity) + screenOf(sub, number), nil
			case !isNotFound(err):
				return "", err
			}
		}
	}
	var page eventPage
	query := url.Values{"messageId": {args[0]}}.Encode()
	if err := a.control(ctx, http.MethodGet, inThis("history", "life")+"?"+query, nil, &page); err != nil {
		return "", err
	}
	if len(page.Items) == 0 {
		return "", failed(exitNotFound, "there is no entity %s, and no message with that id is remembered; %s",
			oneLine(args[0]), fixMissing)
	}
	return base + "/life?" + query, nil
}

// screenOf is the rest of the address of an entity's screen.
func screenOf(sub entitypath.SubQueue, number string) string {
	switch {
	case sub != entitypath.Main && number != "":
		return "/dead/" + number
	case sub != entitypath.Main:
		return "/dead"
	case number != "":
		return "/messages/" + number
	}
	return ""
}

// browserPatience bounds how long a program may take to say that it has no browser.
const browserPatience = 2 * time.Second

// browse opens an address in the user's browser.
func browse(address string) error {
	var command *exec.Cmd
	switch runtime.GOOS {
	case "windows":
		command = exec.Command("rundll32", "url.dll,FileProtocolHandler", address)
	case "darwin":
		command = exec.Command("open", address)
	default:
		command = exec.Command("xdg-open", address)
	}
	if err := command.Start(); err != nil {
		return err //nolint:wrapcheck // it names the program
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			return fmt.Errorf("%s: %w", command.Args[0], err)
		}
	case <-time.After(browserPatience): // it is the browser itself
	}
	return nil
}
