// Command minibus is a local Azure Service Bus. See minibus --help.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"minibus/server/command"
)

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		cancel()
		<-signals // a second signal ends the process at once; as process 1 of a container only this does
		os.Exit(1)
	}()
	if err := command.Run(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr); err != nil {
		if text := err.Error(); text != "" {
			fmt.Fprintln(os.Stderr, command.Fit(os.Stderr, "minibus: "+text))
		}
		var coded interface{ ExitCode() int }
		if errors.As(err, &coded) {
			os.Exit(coded.ExitCode())
		}
		os.Exit(1)
	}
}
