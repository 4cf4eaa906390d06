package harness

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// readyTimeout is generous: it covers a loaded machine and a deep database, and a test normally does not wait for it.
const readyTimeout = 2 * time.Minute

// Options say how to start a server.
type Options struct {
	Config string   // path of a Config.json
	Data   string   // path of the database; empty: --ephemeral
	CADir  string   // directory of the certificate authority; empty: beside the database, or the user's
	Host   string   // address to listen at; empty: 127.0.0.1
	Args   []string // further flags
	Env    []string // further environment variables
	Ports  Ports    // ports to ask for; 0 lets the system choose
	Log    *os.File // destination of the log; nil: a file of its own, for [Server.Log]
	Alone  bool     // the test speaks of the process: MINIBUS_COMPAT_NAMESPACE does not count
}

// Ports are the TCP ports of a server.
type Ports struct {
	AMQP int `json:"amqp"`
	TLS  int `json:"tls"`
	HTTP int `json:"http"`

	Spaces map[string]int `json:"namespaces"` // ports that namespaces have of their own, by name
}

// wellKnownKey is the root key in connection strings of the tests.
const wellKnownKey = "SAS_KEY_VALUE"

// Server is a running child process.
type Server struct {
	Ports Ports
	*process

	space string // the namespace that clients are told of; empty: the default one
}

// Name returns the name of the namespace that clients are told of.
func (s *Server) Name() string { return cmp.Or(s.space, DefaultSpace) }

type process struct {
	options Options
	cmd     *exec.Cmd
	log     string        // path of the log; empty: Options.Log has it
	exited  chan struct{} // closed when the process has ended
	state   error         // how it ended; read after exited
}

// Start runs the server, waits until it is ready and stops it at the end of the test. If the test fails, it shows the
// log.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	s, err := Launch(Binary(t), filepath.Join(t.TempDir(), "ports.json"), o)
	if s != nil {
		t.Cleanup(func() {
			s.Stop(t)
			if t.Failed() {
				t.Logf("log of minibus (pid %d):\n%s", s.Pid(), s.Log())
			}
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Launch runs a binary and waits until it is ready. If that fails, it returns the server together with the error, since the
// process may still run. The ports file must not exist.
func Launch(binary, portsFile string, o Options) (*Server, error) {
	given, space, moved := o, os.Getenv(spaceVariable), false
	if space != "" && !o.Alone {
		var err error
		if o, moved, err = o.inSpace(space, filepath.Dir(portsFile)); err != nil {
			return nil, fmt.Errorf("start minibus in the namespace %s: %w", space, err)
		}
	}
	s, err := launch(binary, portsFile, o)
	if s != nil {
		s.options = given
	}
	if moved && err == nil {
		s = s.Space(space)
	}
	return s, err
}

func launch(binary, portsFile string, o Options) (*Server, error) {
	args := []string{
		"--host", cmp.Or(o.Host, "127.0.0.1"),
		"--amqp-port", strconv.Itoa(o.Ports.AMQP), "--tls-port", strconv.Itoa(o.Ports.TLS), "--http-port", strconv.Itoa(o.Ports.HTTP),
		"--ports-file", portsFile,
	}
	if o.Config != "" {
		args = append(args, "--config", o.Config)
	}
	if o.Data != "" {
		args = append(args, "--data", o.Data)
	} else {
		args = append(args, "--ephemeral")
	}
	if o.CADir != "" {
		args = append(args, "--ca-dir", o.CADir)
	}
	s := &Server{process: &process{options: o, cmd: exec.Command(binary, append(args, o.Args...)...), exited: make(chan struct{})}}
	s.cmd.Env = append(os.Environ(), o.Env...)
	prepare(s.cmd)
	if err := s.start(filepath.Dir(portsFile)); err != nil {
		return nil, fmt.Errorf("start minibus: %w", err)
	}
	go func() {
		s.state = s.cmd.Wait()
		close(s.exited)
	}()
	if err := s.waitReady(portsFile); err != nil {
		return s, fmt.Errorf("start minibus: %w\n%s", err, s.Log())
	}
	return s, nil
}

// start starts the process. The log goes to a file without a pipe, so that a line is there before anything that the process does
// after writing it.
func (s *Server) start(dir string) error {
	log := s.options.Log
	if log == nil {
		file, err := os.CreateTemp(dir, "minibus-*.log")
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }() // the process has its own copy
		log, s.log = file, file.Name()
	}
	s.cmd.Stdout, s.cmd.Stderr = log, log
	return s.cmd.Start()
}

// waitReady polls for the ports file, which the server writes once it is ready.
func (s *Server) waitReady(portsFile string) error {
	deadline := time.Now().Add(readyTimeout)
	for {
		text, err := os.ReadFile(portsFile)
		if err == nil {
			if err := json.Unmarshal(text, &s.Ports); err != nil {
				return fmt.Errorf("read ports file: %w", err)
			}
			return nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("read ports file: %w", err)
		}
		select {
		case <-s.exited:
			return fmt.Errorf("it ended before it was ready: %w", s.state)
		case <-time.After(2 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("not ready after %v", readyTimeout)
		}
	}
}

// ConnectionString returns the connection string that a user would paste.
func (s *Server) ConnectionString() string {
	return fmt.Sprintf("Endpoint=sb://%s;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=%s;UseDevelopmentEmulator=true;", s.Addr(), wellKnownKey)
}

// Addr returns host:port of the AMQP listener.
func (s *Server) Addr() string {
	return net.JoinHostPort("localhost", strconv.Itoa(s.Ports.AMQP))
}

// Options returns the options that the server was started with.
func (s *Server) Options() Options { return s.options }

// Pid returns the process id.
func (s *Server) Pid() int { return s.cmd.Process.Pid }

// Log returns what the server has logged so far.
func (s *Server) Log() string {
	if s.log == "" {
		return ""
	}
	text, err := os.ReadFile(s.log)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Kill ends the process like kill -9 and waits until it is gone.
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	if err := s.KillNow(); err != nil {
		t.Fatal(err)
	}
}

// KillNow is Kill outside of a test.
func (s *Server) KillNow() error {
	if err := s.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill minibus: %w", err)
	}
	<-s.exited
	return nil
}

// Exited returns a channel that is closed when the process has ended.
func (s *Server) Exited() <-chan struct{} { return s.exited }

// Stop asks the process to end, as an orchestrator does, and waits for it. The exit status must be 0. Stop does nothing
// if the process has ended already.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	select {
	case <-s.exited:
		return
	default:
	}
	if err := s.End(); err != nil {
		t.Error(err)
	}
}

// End is Stop outside of a test. It kills a process that does not end in time.
func (s *Server) End() error {
	if err := askToEnd(s.cmd.Process); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop minibus: %w", err)
	}
	select {
	case <-s.exited:
		if s.state != nil {
			return fmt.Errorf("minibus ended with %w after SIGTERM", s.state)
		}
		return nil
	case <-time.After(readyTimeout):
		return errors.Join(fmt.Errorf("minibus did not end within %v after SIGTERM", readyTimeout), s.KillNow())
	}
}
