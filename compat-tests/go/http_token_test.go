package compat

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// documentedToken makes a token with the shell function of docs/http.md.
func (b *bench) documentedToken(key, resource, policy string) string {
	b.Helper()
	page, err := os.ReadFile("../../docs/http.md")
	b.must("read the page", err)
	function := regexp.MustCompile(`(?ms)^    token\(\) \{.*?^    \}$`).FindString(string(page))
	if function == "" {
		b.Fatal("docs/http.md has no function that makes a token")
	}
	script := regexp.MustCompile(`(?m)^    `).ReplaceAllString(function, "") + "\ntoken '" + resource + "' '" + policy + "'\n"
	cmd := exec.CommandContext(b.ctx, "sh", "-c", script)
	cmd.Env = append(os.Environ(), "KEY="+key)
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.Fatalf("make a token: %v\n%s", err, out)
	}
	return strings.TrimSpace(string(out))
}

// TestHTTP_TheTokenOfTheDocsOpensWhatItNames and nothing else: one with the root key, and one with a queue's policy.
func TestHTTP_TheTokenOfTheDocsOpensWhatItNames(t *testing.T) {
	b := startChecked(t)
	for _, tt := range []struct {
		token         string
		send, receive int
	}{
		{b.documentedToken("SAS_KEY_VALUE", "sb://localhost/", "RootManageSharedAccessKey"), 201, 200},
		{b.documentedToken("writer-key", "sb://localhost/"+queueName, "writer"), 201, 401},
		{b.documentedToken("reader-key", "sb://localhost/"+queueName, "reader"), 401, 200},
		{b.documentedToken("another key", "sb://localhost/", "RootManageSharedAccessKey"), 401, 401},
		{b.documentedToken("SAS_KEY_VALUE", "sb://localhost/another", "RootManageSharedAccessKey"), 401, 401},
		{"", 401, 401},
	} {
		header := map[string]string{"Authorization": tt.token}
		b.wantHTTP(tt.send, "POST", "/"+queueName+"/messages", "m", header)
		b.wantHTTP(tt.receive, "DELETE", "/"+queueName+"/messages/head?timeout=5", "", header)
	}
}
