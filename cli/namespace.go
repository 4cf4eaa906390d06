package cli

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"minibus/config"
)

// namespace is a namespace of a Minibus as its control API shows it.
type namespace struct {
	Name             string   `json:"name"`
	Default          bool     `json:"default"`
	Created          string   `json:"created"`
	Limits           string   `json:"limits"`
	Port             int      `json:"port,omitempty"`
	Aliases          []string `json:"aliases,omitempty"`
	ConnectionString string   `json:"connectionString"`

	ConnectionStrings json.RawMessage `json:"connectionStrings,omitempty"`
}

func (a *app) namespaceCommand() *cobra.Command {
	return group("namespace", "namespaces of a Minibus, each with entities, keys and messages of its own",
		"Uses the control API of a Minibus. With --auth sas it needs a key of the default namespace with the Manage right.",
		a.namespaceList(), a.namespaceShow(), a.namespaceCreate(), a.namespaceRemove())
}

func (a *app) namespaceList() *cobra.Command {
	return &cobra.Command{Use: "ls", Aliases: []string{"list"}, Short: "list the namespaces", Args: names(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var answer struct{ Namespaces []namespace }
			if err := a.control(cmd.Context(), http.MethodGet, "namespaces", nil, &answer); err != nil {
				return a.about("list namespaces", err)
			}
			a.out.list("NAME", "DEFAULT", "LIMITS", "PORT", "CREATED", "ALIASES")
			for _, n := range answer.Namespaces {
				standard, port := "", ""
				if n.Default {
					standard = "yes"
				}
				if n.Port != 0 {
					port = strconv.Itoa(n.Port)
				}
				if err := a.out.add(n, n.Name, standard, n.Limits, port, n.Created, strings.Join(n.Aliases, " ")); err != nil {
					return err
				}
			}
			return nil
		}}
}

func (a *app) namespaceShow() *cobra.Command {
	return &cobra.Command{Use: "show [NAME]", Short: "show a namespace with its connection string; without a name, the one of --connection", Args: names("[NAME]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := inThis()
			if len(args) > 0 {
				path = "namespaces/" + url.PathEscape(args[0])
			}
			var n namespace
			if err := a.control(cmd.Context(), http.MethodGet, path, nil, &n); err != nil {
				return a.about("show the namespace", err)
			}
			return a.out.one(n, n.pairs()...)
		}}
}

func (n namespace) pairs() [][2]string {
	pairs := [][2]string{{"name", n.Name}, {"default", strconv.FormatBool(n.Default)}, {"created", n.Created}, {"limits", n.Limits}}
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
	c := &cobra.Command{Use: "create [NAME]", Short: "create a namespace, with its entities if you like, and print its connection string", Args: names("[NAME]"),
		Long: "Creates a namespace of the running server. Without NAME the server makes one up. Its entities come from a JSON file with Queues and Topics as in\nConfig.json. " +
			"All of them are made, or no namespace.",
		Example: "  minibus namespace create worker-1 --entities entities.json\n  export SERVICEBUS_CONNECTION_STRING=\"$(minibus namespace create -o json | jq -r .connectionString)\""}
	f := c.Flags()
	f.StringVar(&body.Limits, "limits", "", "`profile` of limits: relaxed, standard, premium or emulator (default that of the server)")
	f.IntVar(&body.Port, "port", 0, "a `port` of its own (default one of the server's --namespace-ports, if it has some)")
	f.StringArrayVar(&body.Aliases, "alias", nil, "another `name` of a host that means the namespace; may be repeated")
	f.StringVar(&file, "entities", "", "JSON `file` with Queues and Topics; - for standard input")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			body.Name = args[0]
		}
		if body.Limits != "" {
			if _, err := config.ParseLimits(body.Limits); err != nil {
				return usage("--limits: %v", err)
			}
		}
		if err := a.readEntities(file, &body); err != nil {
			return err
		}
		var n namespace
		if err := a.control(cmd.Context(), http.MethodPost, "namespaces", body, &n); err != nil {
			return a.about("create the namespace", err)
		}
		return a.out.one(n, n.pairs()...)
	}
	return c
}

// maxEntitiesFile is how long a file with entities may be, in bytes, as the control API says.
const maxEntitiesFile = 1 << 20

// readEntities puts the entities of a file into a body.
func (a *app) readEntities(file string, body *creation) error {
	if file == "" {
		return nil
	}
	input := a.env.Stdin
	if file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return usage("--entities: %v", err)
		}
		defer func() { _ = opened.Close() }()
		input = opened
	}
	text, err := io.ReadAll(io.LimitReader(input, maxEntitiesFile+1))
	if err != nil {
		return failed(exitFailed, "--entities: %v", err)
	}
	if len(text) > maxEntitiesFile {
		return usage("--entities: the file has more than %d bytes", maxEntitiesFile)
	}
	var entities struct{ Queues, Topics, UserConfig json.RawMessage }
	switch err := json.Unmarshal(text, &entities); {
	case err != nil:
		return usage("--entities: %v", err)
	case entities.UserConfig != nil:
		return usage("--entities: found a whole Config.json; give a file with the Queues and Topics of one namespace: jq .UserConfig.Namespaces[0]")
	case entities.Queues == nil && entities.Topics == nil:
		return usage("--entities: the file has neither Queues nor Topics")
	}
	body.Queues, body.Topics = entities.Queues, entities.Topics
	return nil
}

func (a *app) namespaceRemove() *cobra.Command {
	c := &cobra.Command{Use: "rm NAME...", Aliases: []string{"delete"}, Short: "delete namespaces with everything in them",
		Long: "Deletes them with all entities and messages, without a way back, and ends the connections of their clients. It asks first if a person is at the terminal.",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("%s needs NAME; see %s --help", called(cmd), cmd.CommandPath())
			}
			return nil
		}}
	yes := c.Flags().BoolP("yes", "y", false, "don't ask")
	ifExists := c.Flags().Bool("if-exists", false, "succeed if there is none")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if err := a.connect(); err != nil {
			return err
		}
		if err := a.confirm(*yes, "Delete the namespace %s at %s, with all entities and messages?", strings.Join(args, ", "), a.host()); err != nil {
			return err
		}
		for _, name := range args {
			err := a.about("delete namespace "+name, a.control(cmd.Context(), http.MethodDelete, "namespaces/"+url.PathEscape(name), nil, nil))
			if isNotFound(err) && *ifExists {
				continue
			}
			if err != nil {
				return err
			}
			if err := a.out.done(map[string]any{"deleted": name, "kind": "namespace"}, "deleted namespace %s", name); err != nil {
				return err
			}
		}
		return nil
	}
	return c
}
