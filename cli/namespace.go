package cli

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"minibus/config"
	"minibus/mgmt/control/api"
)

func (a *app) namespaceCommand() *cobra.Command {
	return group("namespace", "namespaces of a Minibus, each with entities, keys and messages of its own",
		controlHelp,
		a.namespaceList(), a.namespaceShow(), a.namespaceCreate(), a.namespaceRemove())
}

func (a *app) namespaceList() *cobra.Command {
	return &cobra.Command{Use: "ls", Aliases: []string{"list"}, Short: "list the namespaces", Args: Arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var answer struct{ Namespaces []answered[api.Namespace] }
			if err := a.control(cmd.Context(), http.MethodGet, "namespaces", nil, &answer); err != nil {
				return a.about("list namespaces", err)
			}
			a.out.list("NAME", "DEFAULT", "LIMITS", "PORT", "CREATED", "ALIASES")
			for _, item := range answer.Namespaces {
				n := &item.is
				standard, port := "", ""
				if n.Default {
					standard = "yes"
				}
				if n.Port != 0 {
					port = strconv.Itoa(n.Port)
				}
				if err := a.out.add(item, n.Name, standard, n.Limits, port, shownTime(n.Created),
					strings.Join(n.Aliases, " ")); err != nil {
					return err
				}
			}
			return nil
		}}
}

func (a *app) namespaceShow() *cobra.Command {
	return &cobra.Command{Use: "show [NAME]",
		Short: "show a namespace with its connection string; without a name, the one of --connection",
		Args:  Arguments("[NAME]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := inThis()
			if len(args) > 0 {
				path = "namespaces/" + url.PathEscape(args[0])
			}
			var n answered[api.Namespace]
			if err := a.control(cmd.Context(), http.MethodGet, path, nil, &n); err != nil {
				return a.about("show the namespace", err)
			}
			return a.out.one(n, namespacePairs(&n.is)...)
		}}
}

func namespacePairs(n *api.Namespace) [][2]string {
	pairs := [][2]string{{"name", n.Name}, {"default", strconv.FormatBool(n.Default)},
		{"created", shownTime(n.Created)}, {"limits", n.Limits}}
	if n.Port != 0 {
		pairs = append(pairs, [2]string{"port", strconv.Itoa(n.Port)})
	}
	if len(n.Aliases) > 0 {
		pairs = append(pairs, [2]string{"aliases", strings.Join(n.Aliases, " ")})
	}
	return append(pairs, [2]string{"connection-string", n.ConnectionString})
}

// creation is the body of the request that creates a namespace.
type creation struct {
	Name    string          `json:"name,omitempty"`
	Limits  string          `json:"limits,omitempty"`
	Port    int             `json:"port,omitempty"`
	Aliases []string        `json:"aliases,omitempty"`
	Queues  json.RawMessage `json:"Queues,omitempty"`
	Topics  json.RawMessage `json:"Topics,omitempty"`
}

func (a *app) namespaceCreate() *cobra.Command {
	var body creation
	var file string
	c := &cobra.Command{Use: "create [NAME]",
		Short: "create a namespace, with its entities if you like, and print its connection string",
		Args:  Arguments("[NAME]"),
		Long: `Creates a namespace of the running server. Without NAME the server makes one up. Its entities come from
a whole Config.json, or from a JSON file with Queues and Topics as in one. All of them are made, or no namespace.`,
		Example: "  minibus namespace create worker-1 --entities entities.json\n" +
			"  export SERVICEBUS_CONNECTION_STRING=\"$(minibus namespace create -o json | jq -r .connectionString)\""}
	f := c.Flags()
	f.StringVar(&body.Limits, "limits", "",
		"`profile` of limits: relaxed, standard, premium or emulator (default that of the server)")
	f.IntVar(&body.Port, "port", 0,
		"a `port` of its own (default one of the server's --namespace-ports, if it has some)")
	f.StringArrayVar(&body.Aliases, "alias", nil, "another `name` of a host that means the namespace; may be repeated")
	f.StringVar(&file, "entities", "", "Config.json, or JSON `file` with Queues and Topics; - for standard input")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			body.Name = args[0]
		}
		if body.Limits != "" {
			if _, err := config.ParseProfile(body.Limits); err != nil {
				return Usage("--limits: %v", err)
			}
		}
		whole, err := a.readEntities(file, &body)
		if err != nil {
			return err
		}
		path, order := "namespaces", any(body)
		if whole != nil {
			if body.Port != 0 || body.Aliases != nil {
				return Usage("--entities: a whole Config.json says itself which port and aliases the namespace " +
					"has; leave --port and --alias out")
			}
			path, order = path+"?"+body.query(), whole
		}
		var n answered[api.Namespace]
		if err := a.control(cmd.Context(), http.MethodPost, path, order, &n); err != nil {
			return a.about("create the namespace", err)
		}
		return a.out.one(n, namespacePairs(&n.is)...)
	}
	return c
}

// query returns the name and the limits as a request with a whole Config.json has them.
func (body *creation) query() string {
	query := url.Values{}
	for name, value := range map[string]string{"name": body.Name, "limits": body.Limits} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return query.Encode()
}

// readEntities puts the entities of a file into a body, or returns the file if it is a whole Config.json.
func (a *app) readEntities(file string, body *creation) (whole any, err error) {
	if file == "" {
		return nil, nil
	}
	input := a.env.Stdin
	if file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return nil, Usage("--entities: %v", err)
		}
		defer func() { _ = opened.Close() }()
		input = opened
	}
	text, err := io.ReadAll(io.LimitReader(input, maxConfigFile+1))
	if err != nil {
		return nil, failed(exitFailed, "--entities: %v", err)
	}
	if len(text) > maxConfigFile {
		return nil, Usage("--entities: the file has more than %d bytes", maxConfigFile)
	}
	if isFile, err := config.IsFile("--entities", text); err != nil {
		return nil, Usage("%v", err)
	} else if isFile {
		return rawText(text), nil
	}
	var entities struct{ Queues, Topics json.RawMessage }
	switch err := json.Unmarshal(text, &entities); {
	case err != nil:
		return nil, Usage("--entities: %v", err)
	case entities.Queues == nil && entities.Topics == nil:
		return nil, Usage("--entities: the file has neither Queues nor Topics")
	}
	body.Queues, body.Topics = entities.Queues, entities.Topics
	return nil, nil
}

func (a *app) namespaceRemove() *cobra.Command {
	c := &cobra.Command{Use: "rm NAME...", Aliases: []string{"delete"},
		Short: "delete namespaces with everything in them",
		Long: `Deletes them with all entities and messages, without a way back, and ends the connections of their
clients. It asks first if a person is at the terminal.`,
		Args: Arguments("NAME...")}
	yes := yesFlag(c)
	dryRun := dryRunFlag(c)
	ifExists := c.Flags().Bool("if-exists", false, "succeed if there is none")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if *dryRun {
			for _, name := range args {
				err := a.about("delete namespace "+name, a.wouldDeleteNamespace(cmd.Context(), name))
				if err = unlessGone(err, *ifExists); err != nil {
					return err
				}
			}
			return nil
		}
		if err := a.connect(); err != nil {
			return err
		}
		if err := a.confirm(*yes, "Delete the namespace %s at %s, with all entities and messages?",
			strings.Join(args, ", "), a.host()); err != nil {
			return err
		}
		for _, name := range args {
			err := a.about("delete namespace "+name,
				a.control(cmd.Context(), http.MethodDelete, "namespaces/"+url.PathEscape(name), nil, nil))
			if isNotFound(err) && *ifExists {
				continue
			}
			if err != nil {
				return err
			}
			if err := a.out.done(map[string]any{"deleted": name, "kind": "namespace"}, "deleted namespace %s",
				name); err != nil {
				return err
			}
		}
		return nil
	}
	return c
}

// wouldDeleteNamespace says what would be deleted with a namespace.
func (a *app) wouldDeleteNamespace(ctx context.Context, name string) error {
	entities, messages := 0, 0
	query := url.Values{"limit": {"1000"}}
	for {
		var page api.Page[api.Entity]
		path := "namespaces/" + url.PathEscape(name) + "/entities?" + query.Encode()
		if err := a.control(ctx, http.MethodGet, path, nil, &page); err != nil {
			return err
		}
		for i := range page.Items {
			c := &page.Items[i].Counts
			messages += int(c.Scheduled + c.DeadLetter + c.Transfer + c.TransferDeadLetter)
			if page.Items[i].Kind != "topic" { // what a topic has is in its subscriptions
				messages += int(c.Active)
			}
		}
		entities += len(page.Items)
		if page.Next == "" {
			break
		}
		query.Set("cursor", page.Next)
	}
	report := map[string]any{"dryRun": true, "deleted": name, "kind": "namespace", "entities": entities,
		"messages": messages}
	return a.out.done(report, "would have deleted namespace %s, with entities: %s, messages: %s; nothing changed",
		name, config.Thousands(entities), config.Thousands(messages))
}

func (a *app) resetCommand() *cobra.Command {
	c := &cobra.Command{Use: "reset", Short: "make a namespace of a Minibus what its configuration says, and empty",
		Args: Arguments(),
		Long: `Afterwards the namespace has the entities of Config.json, or those with which it was created, and no
others. They are empty, and the clock shows the machine's time. Clients stay connected. It asks first if a person is
at the terminal.`,
		Example: "  minibus reset --yes"}
	yes := yesFlag(c)
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		var n answered[api.Namespace]
		if err := a.control(cmd.Context(), http.MethodGet, inThis(), nil, &n); err != nil {
			return a.about("reset the namespace", err)
		}
		if err := a.confirm(*yes, "Reset the namespace %s at %s, with all of its messages lost?", n.is.Name,
			a.host()); err != nil {
			return err
		}
		if err := a.control(cmd.Context(), http.MethodPost, inThis("reset"), nil, nil); err != nil {
			return a.about("reset the namespace", err)
		}
		return a.out.done(map[string]any{"reset": n.is.Name}, "reset the namespace %s", n.is.Name)
	}
	return c
}
