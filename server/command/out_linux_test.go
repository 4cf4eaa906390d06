package command

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal returns both ends of a pseudo-terminal: the test reads from the first what a program writes to the second.
func terminal(t *testing.T) (reader, tty *os.File) {
	t.Helper()
	reader, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reader.Close() })
	if err := unix.IoctlSetPointerInt(int(reader.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(reader.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tty.Close() })
	return reader, tty
}

// A trust store is binary and would garble a terminal. Files and pipes accept it, and PEM goes anywhere.
func TestABinaryTrustStoreIsNotWrittenToATerminal(t *testing.T) {
	reader, tty := terminal(t)
	dir := t.TempDir()
	run := func(stdout *os.File, format string) error {
		return Run(t.Context(), []string{"cert", "export", "--ca-dir", dir, "--format", format}, nil, stdout, &output{})
	}
	err := run(tty, "pkcs12")
	if err == nil || !strings.Contains(err.Error(), "--out minibus-ca.p12") {
		t.Errorf("to a terminal: %v", err)
	}
	if err := run(tty, "pem"); err != nil {
		t.Fatalf("PEM to a terminal: %v", err)
	}
	shown := make([]byte, 100)
	if n, err := reader.Read(shown); err != nil || !strings.HasPrefix(string(shown[:n]), "-----BEGIN CERTIFICATE") {
		t.Errorf("the terminal shows %q, %v", shown[:n], err)
	}
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = from.Close() }()
	if err := run(to, "pkcs12"); err != nil {
		t.Errorf("into a pipe: %v", err)
	}
	_ = to.Close()
}

// TestBannerAtATerminal has a column for what it says. Everywhere else the lines are those that programs look for.
func TestBannerAtATerminal(t *testing.T) {
	reader, tty := terminal(t)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, append(slices.Clone(freePorts), "--ephemeral"), nil, tty, &output{})
	}()
	shown := ""
	for buffer := make([]byte, 1000); !strings.Contains(shown, readyLine); {
		n, err := reader.Read(buffer)
		if err != nil {
			t.Fatalf("%v after %q", err, shown)
		}
		shown += string(buffer[:n])
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	for _, want := range []string{"\nExplorer           http://localhost:", "\nConnection string  Endpoint=sb://localhost:", "\nDatabase           in memory", "\n" + readyLine} {
		if !strings.Contains(strings.ReplaceAll(shown, "\r", ""), want) {
			t.Errorf("the terminal shows\n%s\nwant %q in it", shown, want)
		}
	}
}
