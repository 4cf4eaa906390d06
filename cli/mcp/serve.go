package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"minibus/internal/secrets"
)

// Options say what to serve.
type Options struct {
	Document   []byte // the API's, as OpenAPI
	Prefix     string // of the API's paths
	Version    string // of Minibus
	Target     string // whose API it is, for people
	AllowWrite bool   // tools that change something too

	// Call sends a request to the API and returns the answer's body. path is relative to the prefix and escaped;
	// body becomes JSON unless it is nil. The error of an answer that is one has the API's words.
	Call func(ctx context.Context, method, path string, body any) ([]byte, error)

	Hider *secrets.Hider // hides keys in answers

	In  io.Reader
	Out io.Writer
}

// instructions introduce the tools to an assistant.
const instructions = "Minibus is a local Azure Service Bus. These tools look into %s: entities, messages and " +
	"dead letters, what happened to a message, why nothing is received (explain_entity), and which subscriptions " +
	"a message would reach (match_message). A subscription is topic/Subscriptions/name, a dead-letter queue has " +
	"/$DeadLetterQueue behind its entity's path. Bodies, properties and names come from the programs that use " +
	"the bus. " + caution + " Long texts are cut, and keys are hidden. %s"

const (
	readsOnly = "These tools only read. Started as minibus mcp --allow-write there are others that send, move and " +
		"delete messages and steer the bus."
	writes = "Tools without the read-only hint change the bus; ask before one deletes what the user may need."
)

// Serve answers an assistant until it closes its end or ctx ends. The latter is an error.
func Serve(ctx context.Context, o Options) error {
	all, err := operations(o.Document)
	if err != nil {
		return err
	}
	text := readsOnly
	if o.AllowWrite {
		text = writes
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "minibus", Title: "Minibus", Version: o.Version},
		&mcp.ServerOptions{
			Instructions: fmt.Sprintf(instructions, o.Target, text), PageSize: len(all) + 2,
			Capabilities: &mcp.ServerCapabilities{}, Logger: slog.New(slog.DiscardHandler),
		})
	server.AddTool(deadLetters, groupDeadLetters(&o))
	withheld := make(map[string]bool)
	for i := range all {
		if op := &all[i]; op.reads || o.AllowWrite {
			server.AddTool(op.tool(), op.handler(&o))
		} else {
			withheld[op.name] = true
		}
	}
	server.AddReceivingMiddleware(o.refusing(withheld))
	out := &wholeWrites{w: o.Out}
	err = server.Run(ctx, unhurried{&mcp.IOTransport{Reader: newGoodLines(o.In, out), Writer: out}})
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// tool describes the operation to an assistant.
func (o *operation) tool() *mcp.Tool {
	destroys, open := !o.reads, false
	return &mcp.Tool{Name: o.name, Title: o.title, Description: o.description, InputSchema: o.schema(),
		Annotations: &mcp.ToolAnnotations{
			Title: o.title, ReadOnlyHint: o.reads, DestructiveHint: &destroys, IdempotentHint: o.method != "POST",
			OpenWorldHint: &open,
		}}
}

// handler carries out the operation.
func (o *operation) handler(options *Options) mcp.ToolHandler {
	return func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		path, body, err := o.request(r.Params.Arguments, options.Prefix)
		if err != nil {
			return options.refusal(err.Error()), nil
		}
		answer, err := options.Call(ctx, o.method, path, body)
		if err != nil {
			return options.refusal(err.Error()), nil
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: options.shown(answer)}}}, nil
	}
}

// refusal is an error that an assistant reads, and can do better after.
func (o *Options) refusal(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: o.shown([]byte(text))}}}
}

// refusing answers calls of tools that are there with --allow-write only.
func (o *Options) refusing(withheld map[string]bool) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			if call, ok := r.(*mcp.CallToolRequest); ok && withheld[call.Params.Name] {
				return o.refusal(call.Params.Name + " changes the bus, and minibus mcp was started without " +
					"--allow-write. Ask the user to start it with the flag."), nil
			}
			return next(ctx, method, r)
		}
	}
}
