package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
)

const queue = "queue.1"

func main() {
	binary := flag.String("binary", "", "start this `file` instead of a container")
	image := flag.String("image", "minibus", "`name` of the image")
	rounds := flag.Int("rounds", 5, "`number` of rounds")
	flag.Parse()
	start := func() (instance, error) { return runImage(*image) }
	if *binary != "" {
		start = func() (instance, error) { return runBinary(*binary) }
	}
	if err := measure(start, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "first:", err)
		os.Exit(1)
	}
}

// measure prints the times of each round and their medians.
func measure(start func() (instance, error), rounds int) error {
	if rounds < 1 {
		return fmt.Errorf("-rounds %d: at least 1", rounds)
	}
	var all [len(steps)][]time.Duration
	for round := range rounds {
		times, err := once(start)
		if err != nil {
			return fmt.Errorf("round %d: %w", round+1, err)
		}
		for i, d := range times {
			all[i] = append(all[i], d)
		}
		fmt.Printf("round %d: %s\n", round+1, line(times))
	}
	var medians [len(steps)]time.Duration
	for i, times := range all {
		slices.Sort(times)
		medians[i] = times[len(times)/2]
	}
	fmt.Printf("median:  %s\n", line(medians))
	return nil
}

// steps are the moments that a round measures, all from its start.
var steps = [...]string{"started", "ready", "first message"}

func line(times [len(steps)]time.Duration) string {
	words := make([]string, len(steps))
	for i, d := range times {
		words[i] = fmt.Sprintf("%s %v", steps[i], d.Round(time.Millisecond))
	}
	return strings.Join(words, ", ")
}

// once starts a Minibus and ends it.
func once(start func() (instance, error)) (times [len(steps)]time.Duration, err error) {
	begin := time.Now()
	bus, err := start()
	if err != nil {
		return times, err
	}
	defer func() { err = errors.Join(err, bus.stop()) }()
	times[0] = time.Since(begin)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := waitHealthy(ctx, bus.address); err != nil {
		return times, err
	}
	times[1] = time.Since(begin)
	err = exchange(ctx, bus.address)
	times[2] = time.Since(begin)
	return times, err
}

// waitHealthy asks the port for AMQP, which takes HTTP too.
func waitHealthy(ctx context.Context, address string) error {
	client := http.Client{Timeout: time.Second}
	for {
		answer, err := client.Get("http://" + address + "/health")
		if err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for http://%s/health: %w", address, ctx.Err())
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// exchange sends a message and receives it.
func exchange(ctx context.Context, address string) error {
	client, err := azservicebus.NewClientFromConnectionString("Endpoint=sb://"+address+
		";SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true", nil)
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	defer client.Close(ctx)
	sender, err := client.NewSender(queue, nil)
	if err != nil {
		return fmt.Errorf("make a sender: %w", err)
	}
	if err := sender.SendMessage(ctx, &azservicebus.Message{Body: []byte("first")}, nil); err != nil {
		return fmt.Errorf("send: %w", err)
	}
	receiver, err := client.NewReceiverForQueue(queue, nil)
	if err != nil {
		return fmt.Errorf("make a receiver: %w", err)
	}
	messages, err := receiver.ReceiveMessages(ctx, 1, nil)
	if err != nil {
		return fmt.Errorf("receive: %w", err)
	}
	if body := string(messages[0].Body); body != "first" {
		return fmt.Errorf("received %q", body)
	}
	return nil
}

// instance is a Minibus that runs.
type instance struct {
	address string
	stop    func() error
}

// runImage starts a container, whose port the engine chooses.
func runImage(image string) (instance, error) {
	id, err := docker("run", "--detach", "--publish", "127.0.0.1::5672", image)
	if err != nil {
		return instance{}, err
	}
	stop := func() error {
		_, err := docker("rm", "--force", "--volumes", id)
		return err
	}
	address, err := docker("port", id, "5672")
	if err != nil {
		return instance{}, errors.Join(err, stop())
	}
	return instance{address: address, stop: stop}, nil
}

func docker(args ...string) (string, error) {
	out, err := exec.Command("docker", args...).Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		return "", fmt.Errorf("docker %s: %w: %s", args[0], err, failed.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}
