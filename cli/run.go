package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"minibus/internal/printable"
)

// Environment is what a command has around it.
type Environment struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Environ        []string // "KEY=value" entries

	// Authority returns the file with the certificate of the local Minibus's authority, which need not exist.
	Authority func() (string, error)
	// Document returns the OpenAPI document of the control API, as this program serves it.
	Document func() []byte
	Version  string // of this program

	// Examine looks at the Minibus that would run with these flags, or does. It changes nothing. An error is one of the flags.
	Examine func(ctx context.Context, serverFlags []string) ([]Finding, error)
	// Support has what a support bundle needs.
	Support Support
}

// words are the first words of the commands here. A test compares them with the commands; making those takes too long for each
// start of a server.
var words = []string{"queue", "topic", "sub", "subscription", "rule", "send", "peek", "receive", "tail", "dlq", "purge", "bench", "namespace", "message", "sessions", "conn", "why", "history", "wait", "clock", "fault", "reset", "config", "snapshot", "env", "doctor", "support-bundle", "mcp", "completion",
	"__complete", "__completeNoDesc"}

// Words returns the first words of the commands here, but for those that shells call.
func Words() []string {
	return slices.DeleteFunc(slices.Clone(words), func(word string) bool { return strings.HasPrefix(word, "_") })
}

// Handles reports whether the arguments are for this package: whether their first word, after flags of all commands here and after
// help, is one of its commands.
func Handles(args []string) bool {
	for i := 0; i < len(args); i++ {
		word := args[i]
		switch {
		case word == "help" && i == 0:
		case word == "-o", word == "-c", word == "--output", word == "--connection", word == "--ca", word == "--timeout":
			i++ // its value
		case strings.HasPrefix(word, "-o"), strings.HasPrefix(word, "--output="), strings.HasPrefix(word, "--connection="), strings.HasPrefix(word, "--ca="), strings.HasPrefix(word, "--timeout="):
		case word == "config":
			return i+1 < len(args) && slices.Contains(configWords, args[i+1]) // the others are the server's
		default:
			return slices.Contains(words, word)
		}
	}
	return false
}

// configWords are the second words of config that are commands here.
var configWords = []string{"print", "diff", "apply"}

// Run runs a command until it is done or ctx ends. Its error is ready to be shown, and has a method ExitCode.
func Run(ctx context.Context, args []string, e Environment) (err error) {
	a := &app{env: e}
	root := a.root()
	if strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		completeServer(root)
	}
	root.SetArgs(args)
	root.SetIn(e.Stdin)
	root.SetOut(printable.Screen(e.Stdout))
	root.SetErr(printable.Screen(e.Stderr))
	defer func() {
		// The SDK asserts the types of properties that any client can send with another type.
		if r := recover(); r != nil {
			err = &failure{code: exitFailed, text: fmt.Sprintf("the client library could not read an answer: %v", r)}
		}
		if closing := a.close(); err == nil {
			err = closing
		}
		err = a.finish(ctx, err)
	}()
	return root.ExecuteContext(ctx)
}

// finish makes an error fit to be shown.
func (a *app) finish(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	var f *failure
	if !errors.As(err, &f) {
		f = a.explain(err)
	}
	if ctx.Err() != nil && f.code != exitUsage {
		if a.quiet {
			return &failure{code: exitInterrupted}
		}
		return &failure{code: exitInterrupted, text: "interrupted" + a.interrupted}
	}
	var shown strings.Builder
	_, _ = printable.Screen(&shown).Write([]byte(a.redact(f.text)))
	f.text = shown.String()
	return f
}
