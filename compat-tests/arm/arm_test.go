package arm

import (
	"path/filepath"
	"testing"

	"minibus/compat-tests/harness"
)

// TestResourceManager runs all clients at once: most of their time they wait.
func TestResourceManager(t *testing.T) {
	harness.NeedAll(t, "to run clients of Resource Manager")
	c := checked(t)
	for name, test := range map[string]func(*testing.T, *cloud){"Go": testGo, "az": testAz, "Python": testPython, "JavaScript": testJavaScript, "Java": testJava} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, c)
		})
	}
}

// testPython drives azure-mgmt-servicebus.
func testPython(t *testing.T, c *cloud) {
	c.raw(t).group("python")
	harness.Run(t, c.environ(), harness.Python(t, "."), "manage.py")
}

// testJavaScript drives @azure/arm-servicebus.
func testJavaScript(t *testing.T, c *cloud) {
	harness.InstallNodeModules(t, ".")
	c.raw(t).group("js")
	harness.Run(t, c.environ(), "node", "manage.mjs")
}

// testJava drives azure-resourcemanager-servicebus.
func testJava(t *testing.T, c *cloud) {
	c.raw(t).group("java")
	store := filepath.Join(t.TempDir(), "minibus-ca.p12")
	harness.Run(t, nil, harness.Binary(t), "cert", "export", "--ca-dir", filepath.Dir(c.CA()), "--out", store, "--format", "pkcs12")
	harness.Maven(t, ".", append(c.environ(), "MINIBUS_TRUST_STORE="+store))
}
