package hostname

import "testing"

func TestIsLocal(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "servicebus": true, "my_alias": true, "x.localhost": true, "ns.servicebus.windows.net": true,
		"127.0.0.1": true, "127.9.9.9": true, "10.1.2.3": true, "172.31.0.1": true, "192.168.1.1": true, "169.254.1.1": true, "100.64.0.1": true,
		"::1": true, "fd00::1": true, "fe80::1": true, "::ffff:10.0.0.1": true, "fe80::1%eth0": true,
		"": false, "example.org": false, "localhost.example.org": false, "servicebus.windows.net": false, "servicebus.windows.net.example.org": false,
		"xservicebus.windows.net": false, "8.8.8.8": false, "172.32.0.1": false, "192.0.2.7": false, "2001:db8::1": false, "::ffff:8.8.8.8": false, "0.0.0.0": false,
	} {
		if got := IsLocal(host); got != want {
			t.Errorf("%q: %v", host, got)
		}
	}
}
