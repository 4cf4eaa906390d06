package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	if err := command(os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	}
}

func command(args []string) error {
	if len(args) == 2 && args[0] == "report" {
		results, err := readResults(args[1])
		if err == nil {
			report(results, os.Stdout)
		}
		return err
	}
	if len(args) > 0 && args[0] == "fairness" {
		return fairnessCommand(args[1:], os.Stdout)
	}
	if len(args) == 1 && args[0] == "echo" {
		return echoCommand(os.Stdout)
	}
	o, err := parseOptions(args, os.Stderr)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	r, err := run(ctx, o)
	if err != nil {
		return err
	}
	if err := r.print(os.Stdout); err != nil {
		return err
	}
	if o.json == "" {
		return nil
	}
	return r.save(o.json)
}
