package server

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"minibus/config"
	"minibus/emulator"
	"minibus/internal/sas"
)

// ask sends a request to a server without ports, with a token for the whole namespace signed with key, and returns the status.
func ask(t *testing.T, a *Server, method, path, body, policy, key string) int {
	t.Helper()
	return request(t, a, method, path, body, sas.Sign("http://localhost/", policy, key, time.Now().Add(time.Hour)))
}

// askFor gets an entity with a token for only that entity.
func askFor(t *testing.T, a *Server, path, policy, key string) int {
	t.Helper()
	return request(t, a, http.MethodGet, path, "", sas.Sign("http://localhost/"+path, policy, key, time.Now().Add(time.Hour)))
}

func request(t *testing.T, a *Server, method, path, body, token string) int {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return a.Dial(ctx) }}}
	r, err := http.NewRequestWithContext(t.Context(), method, "http://localhost/"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("If-Match", "*")
	r.Header.Set("Authorization", token)
	w, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = w.Body.Close()
	return w.StatusCode
}

func TestPoliciesOfTheNamespace(t *testing.T) {
	own := []emulator.AuthorizationRule{{KeyName: "low", PrimaryKey: "low-key", Rights: []string{"Listen"}},
		{KeyName: "high", PrimaryKey: "high-key", Rights: []string{"Manage", "Send", "Listen"}}}
	root := append([]emulator.AuthorizationRule{{KeyName: "rootmanagesharedaccesskey", PrimaryKey: "mine", Rights: []string{"Manage", "Send", "Listen"}}}, own...)
	for _, tt := range []struct {
		name      string
		rules     []emulator.AuthorizationRule
		flag      string
		policy    string
		key, shut string
	}{
		{"of every sample", nil, "", sas.DefaultKeyName, sas.DefaultKey, "mine"},
		{"by flag", nil, "mine", sas.DefaultKeyName, "mine", sas.DefaultKey},
		{"by file", own, "", "high", "high-key", "low-key"},
		{"by file, with the root's name", root, "", sas.DefaultKeyName, "mine", sas.DefaultKey},
		{"by flag before the file", root, "flag", sas.DefaultKeyName, "flag", "mine"},
		{"by flag beside the file", own, "flag", sas.DefaultKeyName, "flag", sas.DefaultKey},
	} {
		a, err := start(t, Config{NoNetwork: true, Settings: config.Settings{Ephemeral: true, Auth: config.AuthSAS, RootKey: tt.flag},
			Topology: &config.Topology{Namespace: "n", AuthorizationRules: tt.rules}})
		if err != nil {
			t.Fatal(err)
		}
		if got := ask(t, a, "GET", "$Resources/queues", "", tt.policy, tt.key); got != http.StatusOK {
			t.Errorf("%s: status %d", tt.name, got)
		}
		if got := ask(t, a, "GET", "$Resources/queues", "", tt.policy, tt.shut); got != http.StatusUnauthorized {
			t.Errorf("%s: status %d with another key", tt.name, got)
		}
		c, err := sas.ParseConnection(a.ConnectionString())
		if err != nil || !strings.EqualFold(c.KeyName, tt.policy) || c.Key != tt.key {
			t.Errorf("%s: connection string %s, %v", tt.name, a.ConnectionString(), err)
		}
		_ = a.Close(context.Background())
	}
}

func TestDEC7_PoliciesOfEntitiesSurviveTheProcess(t *testing.T) {
	settings := config.Settings{Data: filepath.Join(t.TempDir(), "bus.db"), Auth: config.AuthSAS}
	serve := func(rules ...emulator.AuthorizationRule) *Server {
		t.Helper()
		queue, topic := &emulator.QueueOptions{}, &emulator.TopicOptions{}
		queue.Admin.AuthorizationRules, topic.Admin.AuthorizationRules = rules, rules
		a, err := start(t, Config{Settings: settings, NoNetwork: true, Topology: &config.Topology{
			Entities: []emulator.EntityConfig{{Path: "q", Queue: queue}, {Path: "t", Topic: topic}}}})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	all := []string{"Manage", "Send", "Listen"}
	wants := func(a *Server, policy, key string, status int) {
		t.Helper()
		for _, path := range []string{"q", "t"} {
			if got := ask(t, a, "GET", path, "", policy, key); got != http.StatusUnauthorized {
				t.Errorf("%s by %s for the namespace: status %d", path, policy, got)
			}
			if got := askFor(t, a, path, policy, key); got != status {
				t.Errorf("%s by %s: status %d, want %d", path, policy, got, status)
			}
		}
	}
	a := serve(emulator.AuthorizationRule{KeyName: "file", PrimaryKey: "one", Rights: all})
	wants(a, "file", "one", 200)
	wants(a, "live", "two", 401)
	for path, kind := range map[string]string{"q": "QueueDescription", "t": "TopicDescription"} {
		body := description(kind, `<AuthorizationRules><AuthorizationRule><Rights><AccessRights>Manage</AccessRights><AccessRights>Send</AccessRights>`+
			`<AccessRights>Listen</AccessRights></Rights><KeyName>live</KeyName><PrimaryKey>two</PrimaryKey></AuthorizationRule></AuthorizationRules>`)
		if got := ask(t, a, "PUT", path, body, sas.DefaultKeyName, sas.DefaultKey); got != 200 {
			t.Fatalf("update of %s: %d", path, got)
		}
	}
	wants(a, "live", "two", 200)
	wants(a, "file", "one", 401)
	_ = a.Close(context.Background())
	a = serve() // the file has no rules
	wants(a, "live", "two", 200)
	_ = a.Close(context.Background())
	a = serve(emulator.AuthorizationRule{KeyName: "file", PrimaryKey: "three", Rights: all})
	wants(a, "live", "two", 401)
	wants(a, "file", "three", 200)
	_ = a.Close(context.Background())
	a = serve() // the file says nothing
	wants(a, "file", "three", 200)
	_ = a.Close(context.Background())
	for _, path := range []string{"q", "t"} {
		list := fmt.Sprintf(`{"UserConfig": {"Namespaces": [{"Name": "n", "Queues": [{"Name": "q", "Properties": {%s}}], "Topics": [{"Name": "t", "Properties": {%s}}]}]}}`,
			none(path == "q"), none(path == "t"))
		topology, report := config.Parse("test", []byte(list), config.ProfileRelaxed)
		if err := report.Err(); err != nil {
			t.Fatal(err)
		}
		var log output
		a, err := start(t, Config{Settings: settings, NoNetwork: true, Topology: topology, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		if got := askFor(t, a, path, "file", "three"); got != http.StatusUnauthorized {
			t.Errorf("%s after an empty list: status %d", path, got)
		}
		if !strings.Contains(log.String(), "setting=AuthorizationRules before=[file] now=[]") || strings.Contains(log.String(), "three") {
			t.Errorf("the log says %s", log.String())
		}
		_ = a.Close(context.Background())
	}
}

// none returns an empty list of policies, or no list.
func none(said bool) string {
	if said {
		return `"AuthorizationRules": []`
	}
	return ""
}

// Prometheus may have no token. Where tokens are not checked, no client needs one.
func TestMetricsCanBeOpened(t *testing.T) {
	for _, s := range []config.Settings{{Auth: config.AuthSAS, OpenMetrics: true}, {Auth: config.AuthAny}} {
		s.Ephemeral = true
		a, err := start(t, Config{NoNetwork: true, Settings: s})
		if err != nil {
			t.Fatal(err)
		}
		if status, text := raw(t, a, "GET /metrics", "", ""); status != 200 || !strings.Contains(text, "minibus_entities") {
			t.Errorf("%+v: %d %s", s, status, text)
		}
	}
}

// Over HTTP a client without a valid token keeps no idle connection, on the wire too.
func TestHTTPConnectionsWithoutATokenEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := accessServerWith(t, Config{})
		for _, tt := range []struct {
			path, token string
			ends        bool
		}{{"health", "", true}, {"", "", true}, {"q", "rubbish", true}, {"q", a.signed(ns + "q"), false}} {
			nc, err := a.Dial(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := fmt.Fprintf(nc, "GET /%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: %s\r\n\r\n", tt.path, tt.token); err != nil {
				t.Fatal(err)
			}
			if err := nc.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
				t.Fatal(err)
			}
			_, err = io.Copy(io.Discard, nc)
			if ended := err == nil; ended != tt.ends {
				t.Errorf("/%s: the connection ends: %t, want %t (%v)", tt.path, ended, tt.ends, err)
			}
			_ = nc.Close()
		}
		if err := a.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}
