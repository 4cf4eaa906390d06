package server

import (
	"context"
	"log/slog"
	"path/filepath"
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
			a, err := start(t, Config{Topology: topology, Logger: slog.New(slog.NewTextHandler(&log, nil)), Settings: config.Settings{Ephemeral: true, Host: host,
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

// A policy that an earlier run stored opens its entity as one of the Config.json does.
func TestTheDefaultKeyIsFoundInTheDatabase(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bus.db")
	begin := func(host string, auth config.Auth, entities ...emulator.EntityConfig) (log string, err error) {
		t.Helper()
		var out output
		a, err := start(t, Config{Topology: &config.Topology{Namespace: "n", Entities: entities}, Logger: slog.New(slog.NewTextHandler(&out, nil)),
			Settings: config.Settings{Data: file, Host: host, TLSPort: config.PortOff, HTTPPort: config.PortOff, Auth: auth, RootKey: "mine"}})
		if a != nil {
			if err := a.Close(context.Background()); err != nil {
				t.Error(err)
			}
		}
		return out.String(), err
	}
	rules := func(key string) []emulator.AuthorizationRule {
		return []emulator.AuthorizationRule{{KeyName: "shop", PrimaryKey: key, Rights: []string{"Send"}}}
	}
	for _, path := range []string{"orders", "news"} {
		with := func(key string) emulator.EntityConfig {
			if path == "news" {
				o := emulator.TopicOptions{}
				o.Admin.AuthorizationRules = rules(key)
				return emulator.EntityConfig{Path: path, Topic: &o}
			}
			o := emulator.QueueOptions{}
			o.Admin.AuthorizationRules = rules(key)
			return emulator.EntityConfig{Path: path, Queue: &o}
		}
		if log, err := begin("localhost", config.AuthAny, with(sas.DefaultKey)); err != nil || strings.Contains(log, "protects nothing") {
			t.Fatalf("tokens are not checked: %v, %s", err, log)
		}
		if _, err := begin("all", config.AuthSAS); err == nil || !strings.Contains(err.Error(), `the policy "shop" of `+path) || !strings.Contains(err.Error(), "Config.json") {
			t.Errorf("%s for other machines: %v", path, err)
		}
		if log, err := begin("localhost", config.AuthSAS); err != nil || strings.Count(log, "protects nothing") != 1 ||
			!strings.Contains(log, "policy=shop entity="+path) {
			t.Errorf("%s on loopback: %v, %s", path, err, log)
		}
		// The fix.
		if log, err := begin("all", config.AuthSAS, with("own")); err != nil || strings.Contains(log, "protects nothing") {
			t.Errorf("%s with another key: %v, %s", path, err, log)
		}
	}
}
