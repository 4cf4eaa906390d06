package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"minibus/compat-tests/cases"
	"minibus/compat-tests/harness"
)

type options struct {
	out      string
	remove   string
	only     string
	parallel int
	verbose  bool
}

func main() {
	var o options
	flag.StringVar(&o.out, "out", "", "write what was seen to this `file`, as JSON")
	flag.StringVar(&o.remove, "remove", "", "run nothing, and remove what a run with this `prefix` left behind because it was killed")
	flag.StringVar(&o.only, "run", "", "run only the tests whose names, or whose behaviours, contain this `text`")
	flag.IntVar(&o.parallel, "parallel", 8, "run this `many` tests at a time")
	flag.BoolVar(&o.verbose, "v", false, "print what was seen of each test, not only of those that failed")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), "usage: go run ./compat-tests/verify [flags] CONNECTION\n\n"+
			"Asks a namespace for the behaviours of docs/parity.md. With a Minibus, set SSL_CERT_FILE to the certificate of its authority,\n"+
			"which http://localhost:5300/minibus/ca.pem is.\n\n")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	act := verify
	if o.remove != "" {
		act = remove
	}
	if err := act(ctx, flag.Arg(0), o); err != nil {
		fmt.Fprintf(os.Stderr, "verify: %v\n", err)
		os.Exit(1)
	}
}

// verify runs the tests in the namespace and removes what they made, however they end.
func verify(ctx context.Context, connection string, o options) error {
	root, err := harness.Root()
	if err != nil {
		return err
	}
	tests, err := chosen(root, o.only)
	if err != nil {
		return err
	}
	there := harness.Elsewhere{Connection: connection, Prefix: "verify-" + strings.ToLower(rand.Text()[:8]) + "-"}
	n, err := open(ctx, there)
	if err != nil {
		return err
	}
	fmt.Printf("%d tests in a namespace of tier %s at %s. Their entities begin with %s.\n", len(tests), n.tier, n.domain, there.Prefix)
	r := &report{out: os.Stdout, hide: n.hide(), verbose: o.verbose}
	seen := cases.Seen{Date: time.Now().UTC().Format(time.DateOnly), Domain: n.domain, Tier: n.tier, SDK: sdkVersion()}
	err = runTests(ctx, root, there, o.parallel, tests, r)
	err = errors.Join(err, n.clean())
	seen.Tests, seen.Cases = r.tests, judge(tests, r.tests)
	if o.out != "" {
		err = errors.Join(err, write(o.out, seen))
	}
	return errors.Join(err, r.summary(tests, seen.Cases))
}

// prefixes are those of the entities that verify makes.
var prefixes = regexp.MustCompile(`^verify-[a-z0-9]{8}-$`)

// remove removes the entities of an earlier run.
func remove(ctx context.Context, connection string, o options) error {
	if !prefixes.MatchString(o.remove) {
		return fmt.Errorf("%q is no prefix of verify, such as verify-abcd2345-", o.remove)
	}
	n, err := open(ctx, harness.Elsewhere{Connection: connection, Prefix: o.remove})
	if err != nil {
		return err
	}
	return n.clean()
}

// sdkVersion is the version of the SDK, as it was built into the program.
func sdkVersion() string {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == "github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus" {
			return module.Version
		}
	}
	return ""
}

// chosen returns the tests whose name or whose behaviours contain the text.
func chosen(root, text string) ([]cases.Test, error) {
	all, err := cases.Anywhere(root)
	if err != nil {
		return nil, err
	}
	var list []cases.Test
	for _, test := range all {
		if strings.Contains(test.Name+" "+strings.Join(test.IDs, " "), text) {
			list = append(list, test)
		}
	}
	if list == nil {
		return nil, fmt.Errorf("no test and no behaviour contains %q", text)
	}
	return list, nil
}
