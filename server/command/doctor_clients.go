package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"minibus/config"
	"minibus/internal/sas"
	"minibus/mgmt/control"
)

// refusedLately is how old a refusal may be of which doctor speaks.
const refusedLately = time.Hour

// maxRefusedShown is how many kinds of refusals doctor lists.
const maxRefusedShown = 5

// clients asks the running server who is connected, and who was refused lately.
func (d *doctor) clients(ctx context.Context) {
	const about = "clients"
	if !d.running {
		return
	}
	var answer struct{ Namespaces []struct{ Name string } }
	if err := d.control(ctx, "namespaces", &answer); err != nil {
		d.note(about, "", "the server does not tell: %v", err)
		return
	}
	products := make(map[string]int)
	refused := make(map[refusedKind]refusedCount)
	total := 0
	for _, ns := range answer.Namespaces {
		var open struct{ Items []struct{ Product string } }
		var latest struct{ Items []refusedOnce }
		path := "namespaces/" + url.PathEscape(ns.Name)
		err := d.control(ctx, path+"/connections?limit=1000", &open)
		if err == nil {
			err = d.control(ctx, path+"/refusals", &latest)
		}
		if err != nil {
			d.note(about, "", "the server does not tell of the namespace %s: %v", ns.Name, err)
			continue
		}
		for _, c := range open.Items {
			products[c.Product]++
			total++
		}
		count(refused, latest.Items)
	}
	d.good(about, "%s%s", config.Plural(total, "open connection"), listed(products))
	d.refusals(refused)
}

// refusedOnce is what doctor reads of a refusal.
type refusedOnce struct {
	Time                                         time.Time
	Operation, Entity, SubQueue, Condition, Text string
}

// refusedKind is what refusals have in common, and refusedCount how many there were.
type (
	refusedKind  struct{ entity, condition string }
	refusedCount struct {
		n    int
		last refusedOnce
	}
)

func count(all map[refusedKind]refusedCount, latest []refusedOnce) {
	for _, r := range latest {
		if time.Since(r.Time) > refusedLately {
			continue
		}
		kind := refusedKind{strings.TrimSuffix(r.Entity+"/"+r.SubQueue, "/"), r.Condition}
		seen := all[kind]
		if seen.n++; r.Time.After(seen.last.Time) {
			seen.last = r
		}
		all[kind] = seen
	}
}

// refusals adds a finding for each kind of refusal, the latest first.
func (d *doctor) refusals(all map[refusedKind]refusedCount) {
	kinds := slices.SortedFunc(maps.Keys(all),
		func(x, y refusedKind) int { return all[y].last.Time.Compare(all[x].last.Time) })
	if len(kinds) == 0 {
		d.good("refused", "no client was refused in the last hour")
	}
	for i, k := range kinds {
		if i == maxRefusedShown {
			d.note("refused", "minibus conn refused lists all", "%s of other kinds",
				config.Plural(len(kinds)-i, "refusal"))
			break
		}
		seen := all[k]
		of := ""
		if k.entity != "" {
			of = " for " + k.entity
		}
		d.note("refused", fixOfRefusal(&seen.last), "%s%s, the last one at %s: %s (%s)",
			config.Plural(seen.n, "refusal"), of, seen.last.Time.Format(time.TimeOnly), seen.last.Text, k.condition)
	}
}

// fixOfRefusal says what to do about a refusal.
func fixOfRefusal(r *refusedOnce) string {
	switch {
	case r.Condition == "amqp:not-found" && strings.Contains(r.Text, "it is a topic"):
		return "receive from a subscription of the topic: minibus sub ls " + r.Entity +
			" lists them, and minibus sub create " + r.Entity + "/NAME makes one"
	case r.Condition == "amqp:not-found" && r.Entity != "":
		return "create the entity, or correct its name in the program; minibus queue ls, minibus topic ls and " +
			"minibus sub ls list what there is"
	case r.Condition == "amqp:unauthorized-access":
		return "give the program a connection string with a key that is right and has the right: minibus env prints one"
	case r.Entity != "":
		return "minibus why " + r.Entity
	}
	return ""
}

// listed returns the names with their numbers, the most frequent first.
func listed(all map[string]int) string {
	var parts []string
	for _, name := range slices.SortedFunc(maps.Keys(all), func(x, y string) int {
		if all[x] != all[y] {
			return all[y] - all[x]
		}
		return strings.Compare(x, y)
	}) {
		shown := name
		if name == "" {
			shown = "an unknown library"
		}
		parts = append(parts, fmt.Sprintf("%d with %s", all[name], shown))
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, ", ")
}

// control asks the running server by the control API.
func (d *doctor) control(ctx context.Context, path string, out any) error {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	port, err := healthPort(d.settings)
	if err != nil {
		return err
	}
	base := "http://" + net.JoinHostPort(d.host(), strconv.Itoa(port))
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+control.Prefix+path, http.NoBody)
	if err != nil {
		return err
	}
	if d.settings.RootKey != "" {
		r.Header.Set("Authorization",
			sas.Sign(base+"/", sas.DefaultKeyName, d.settings.RootKey, time.Now().Add(time.Minute)))
	}
	answer, err := direct.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	switch answer.StatusCode {
	case http.StatusOK:
		return json.NewDecoder(answer.Body).Decode(out)
	case http.StatusUnauthorized:
		return errors.New("it wants a key: name it in MINIBUS_ROOT_KEY")
	case http.StatusNotFound:
		return errors.New("it has no control API, which --control off does")
	}
	return fmt.Errorf("it answers %s", answer.Status)
}
