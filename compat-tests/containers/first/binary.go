package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
)

// runBinary starts a process with a database of its own, as the container has one.
func runBinary(file string) (instance, error) {
	dir, err := os.MkdirTemp("", "minibus-first-")
	if err != nil {
		return instance{}, fmt.Errorf("make a directory: %w", err)
	}
	address, err := freeAddress()
	if err != nil {
		return instance{}, err
	}
	_, port, _ := net.SplitHostPort(address)
	cmd := exec.Command(file, "--host", "127.0.0.1", "--amqp-port", port, "--tls-port", "0", "--http-port", "0",
		"--data", filepath.Join(dir, "minibus.db"))
	if err := cmd.Start(); err != nil {
		_ = os.RemoveAll(dir)
		return instance{}, fmt.Errorf("start %s: %w", file, err)
	}
	stop := func() error {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		return os.RemoveAll(dir)
	}
	return instance{address: address, stop: stop}, nil
}

// freeAddress returns an address that was free a moment ago.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}
