package server

import (
	"context"
	"strings"
	"testing"

	"minibus/config"
	"minibus/emulator"
	"minibus/internal/sas"
)

// With the key that every sample uses, --auth sas would keep no client out that reaches the port.
func TestTheDefaultKeyIsForLoopbackAlone(t *testing.T) {
	rule := func(primary, secondary string) []emulator.AuthorizationRule {
		return []emulator.AuthorizationRule{{KeyName: "k", PrimaryKey: primary, SecondaryKey: secondary, Rights: []string{"Listen"}}}
	}
	queue, topic := &emulator.QueueOptions{}, &emulator.TopicOptions{}
	queue.Admin.AuthorizationRules, topic.Admin.AuthorizationRules = rule(sas.DefaultKey, ""), rule("x", sas.DefaultKey)
	for _, tt := range []struct {
		name    string
		auth    config.Auth
		root    string
		rules   []emulator.AuthorizationRule
		entity  emulator.EntityConfig
		exposed bool
	}{
		{name: "nothing said", auth: config.AuthSAS, exposed: true},
		{name: "said by flag", auth: config.AuthSAS, root: sas.DefaultKey, exposed: true},
		{name: "second key", auth: config.AuthSAS, rules: rule("mine", sas.DefaultKey), exposed: true},
		{name: "a queue's", auth: config.AuthSAS, root: "mine", entity: emulator.EntityConfig{Path: "q", Queue: queue}, exposed: true},
		{name: "a topic's", auth: config.AuthSAS, root: "mine", entity: emulator.EntityConfig{Path: "t", Topic: topic}, exposed: true},
		{name: "own by flag", auth: config.AuthSAS, root: "mine"},
		{name: "own by file", auth: config.AuthSAS, rules: rule("mine", "")},
		{name: "tokens are not checked", auth: config.AuthAny},
	} {
		for _, host := range []string{"localhost", "127.0.0.1", "all"} {
			topology := &config.Topology{Namespace: "n", AuthorizationRules: tt.rules}
			if tt.entity.Path != "" {
				topology.Entities = []emulator.EntityConfig{tt.entity}
			}
			var log output
			a, err := start(t, Config{Topology: topology, Logger: newLogger(&log, config.Settings{}), Settings: config.Settings{Ephemeral: true, Host: host,
				TLSPort: config.PortOff, HTTPPort: config.PortOff, Auth: tt.auth, RootKey: tt.root}})
			if a != nil {
				_ = a.Close(context.Background())
			}
			refused := err != nil && strings.Contains(err.Error(), "--root-key")
			if refused != (tt.exposed && host == "all") || err != nil && !refused {
				t.Errorf("%s on %s: %v", tt.name, host, err)
			}
			if warned := strings.Contains(log.String(), "protects nothing"); warned != (tt.exposed && host != "all") {
				t.Errorf("%s on %s: the log says %s", tt.name, host, log.String())
			}
		}
	}
}
