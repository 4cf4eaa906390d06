package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

func main() {
	to := flag.String("to", "localhost:5672", "broker")
	out := flag.String("out", "", "file to write")
	title := flag.String("title", "", "first line of the file: SDK and version")
	flag.Parse()
	if *out == "" {
		flag.Usage()
		os.Exit(2)
	}
	if err := capture(*to, *out, *title, flag.Args()); err != nil {
		fmt.Fprintf(os.Stderr, "capture: %v\n", err)
		os.Exit(1)
	}
}

// capture relays a scenario and writes the record, even if the scenario fails: then it is needed most.
func capture(to, out, title string, command []string) error {
	r, err := newRelay(to)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	connectionString := "Endpoint=sb://" + r.addr() +
		";SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true;"
	if len(command) == 0 {
		err = goScenario(ctx, connectionString)
	} else {
		err = runCommand(ctx, connectionString, r.addr(), command)
	}
	text := "# " + title + "\n# C: client, S: server; number of the connection; one frame or protocol header in hex\n" +
		strings.Join(r.close(), "\n") + "\n"
	if writeErr := os.WriteFile(out, []byte(text), 0o644); writeErr != nil {
		return fmt.Errorf("write record: %w", writeErr)
	}
	return err
}

func runCommand(ctx context.Context, connectionString, addr string, command []string) error {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "MINIBUS_CONNECTION_STRING="+connectionString, "MINIBUS_ADDR="+addr)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("run %s: %w", command[0], err)
	}
	return nil
}
