package harness

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// spaceVariable names a namespace. If it is set, every server of the tests has this namespace beside an empty default one. The entities of
// Config.json are there, and all that clients are told is its own port, which takes AMQP, TLS and HTTP.
const spaceVariable = "MINIBUS_COMPAT_NAMESPACE"

// extraPorts is the flag for more ports. In a namespace the one that a test asks for is its own.
const extraPorts = "--extra-ports"

// inSpace returns the options with which a server has the entities in a namespace of its own. It writes the Config.json to a new file in dir.
// Options with a Config.json that has several namespaces, or is none, stay as they are, and moved is false.
func (o Options) inSpace(name, dir string) (changed Options, moved bool, err error) {
	text, err := ConfigText([]Queue{{Name: "queue.1"}}, []Topic{{Name: "topic.1"}}) // a server without Config.json has these
	if o.Config != "" {
		text, err = os.ReadFile(o.Config)
	}
	var file object
	if err != nil || json.Unmarshal(text, &file) != nil {
		return o, false, err
	}
	user, _ := file["UserConfig"].(object)
	list, _ := user["Namespaces"].([]any)
	if len(list) != 1 {
		return o, false, nil
	}
	space, _ := list[0].(object)
	o.Args = slices.Clone(o.Args)
	port := o.Ports.AMQP
	if i := slices.Index(o.Args, extraPorts); i >= 0 {
		if port, err = strconv.Atoi(o.Args[i+1]); err != nil {
			return o, false, fmt.Errorf("read %s: %w", extraPorts, err)
		}
		o.Args = slices.Delete(o.Args, i, i+2)
	}
	space["Name"] = name
	if port != 0 {
		space["Port"] = port
	}
	space["AuthorizationRules"] = authorizationRules([]Policy{{Name: "RootManageSharedAccessKey", Key: wellKnownKey, Rights: []string{"Manage", "Send", "Listen"}}})
	user["Namespaces"] = []any{object{"Name": DefaultSpace, "Queues": []any{}, "Topics": []any{}}, space}
	if text, err = json.Marshal(file); err != nil {
		return o, false, fmt.Errorf("encode Config.json: %w", err)
	}
	o.Config, o.Ports = filepath.Join(dir, "Config-"+rand.Text()+".json"), Ports{}
	o.Args = append(o.Args, "--namespace-ports", "0")
	return o, true, os.WriteFile(o.Config, text, 0o600)
}

// Space returns the server as clients of a namespace with a port of its own see it.
func (s *Server) Space(name string) *Server {
	port := s.Ports.Spaces[name]
	return &Server{Ports: Ports{AMQP: port, TLS: port, HTTP: port, Spaces: s.Ports.Spaces}, process: s.process, space: name}
}
