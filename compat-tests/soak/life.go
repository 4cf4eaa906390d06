package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/harness"
)

// damTime is how long receivers that delete ask for nothing before the broker is told to end.
const damTime = 500 * time.Millisecond

// start runs the broker on the database of the run.
func (s *soak) start() error {
	ports := func() string { return filepath.Join(s.dir, fmt.Sprintf("ports-%d.json", s.life)) }
	os.Remove(ports()) // of the life before: the broker that has written a file locks it next
	s.life++
	fmt.Fprintf(s.logFile, "--- life %d, %s\n", s.life, time.Now().Format(time.RFC3339))
	began := time.Now()
	server, err := harness.Launch(s.options.binary, ports(), harness.Options{
		Config: s.config, Data: s.data, Log: s.logFile, Args: []string{"--log-level", "warn", "--history", history},
		Env: []string{"MINIBUS_CLOCK_FILE=" + s.clockFile()},
	})
	s.server = server
	if err != nil {
		return fmt.Errorf("life %d: %w", s.life, err)
	}
	s.report.started(time.Since(began), s.logSize())
	s.rest, s.unsaved = memory{}, time.Time{}
	s.credit.Store(usualCredit)
	s.proxy.aim(net.JoinHostPort("127.0.0.1", strconv.Itoa(server.Ports.AMQP)))
	return nil
}

// clockFile returns the file that holds the offset of the broker's clock from the machine's.
func (s *soak) clockFile() string { return filepath.Join(s.dir, "clock") }

// logSize returns the size of the write-ahead log.
func (s *soak) logSize() int64 {
	info, err := os.Stat(s.data + "-wal")
	if err != nil {
		return 0 // the file does not exist
	}
	return info.Size()
}

// kill ends the broker like kill -9.
func (s *soak) kill() {
	s.trouble.breaking(true)
	if err := s.server.KillNow(); err != nil {
		s.find("%v", err)
	}
	s.trouble.breaking(true)
}

// terminate asks the broker to end. It must end cleanly, and lose nothing that it took or gave. Receivers that delete
// stop asking for messages shortly before, so that many are on their way at that moment.
func (s *soak) terminate() {
	s.credit.Store(0)
	time.Sleep(damTime)
	s.credit.Store(burstCredit)
	time.Sleep(time.Duration(s.random.Int64N(int64(30 * time.Millisecond))))
	s.trouble.breaking(false)
	began := time.Now()
	if err := s.server.End(); err != nil {
		s.find("life %d: %v", s.life, err)
	}
	s.report.stopped(time.Since(began))
	s.trouble.breaking(false)
}

// gone reports whether the broker ended by itself, which it makes a finding.
func (s *soak) gone() bool {
	select {
	case <-s.server.Exited():
		s.find("life %d: the broker ended by itself; see the end of the log", s.life)
		return true
	default:
		return false
	}
}

// newClient makes a client that tries each operation once: the broker may store a send twice if the client repeats it.
// Version 1.11 of the SDK repeats settlements all the same.
func (s *soak) newClient() (*azservicebus.Client, error) {
	return azservicebus.NewClientFromConnectionString(s.connectionString(), &azservicebus.ClientOptions{
		RetryOptions: azservicebus.RetryOptions{MaxRetries: -1},
	})
}

// connectionString returns a connection string that leads through the proxy.
func (s *soak) connectionString() string {
	return fmt.Sprintf("Endpoint=sb://localhost:%d;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true;",
		s.proxy.port())
}

func (s *soak) proxyAddr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.proxy.port())) }
