package entra

import (
	"context"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Issuer is another issuer whose tokens count, with its keys as they were when it was asked.
type Issuer struct {
	Name string // as its tokens say
	keys map[string]*rsa.PublicKey
}

const (
	discoveryPath = "/.well-known/openid-configuration"
	maxDocument   = 1 << 20
	discoveryTime = 20 * time.Second
)

// Discover asks an issuer for its name and keys (OpenID Connect Discovery). address may be the issuer's or that of its
// document.
func Discover(ctx context.Context, client *http.Client, address string) (*Issuer, error) {
	ctx, cancel := context.WithTimeout(ctx, discoveryTime)
	defer cancel()
	if !strings.HasSuffix(address, discoveryPath) {
		address = strings.TrimSuffix(address, "/") + discoveryPath
	}
	var document struct {
		Issuer string `json:"issuer"`
		Keys   string `json:"jwks_uri"`
	}
	if err := fetch(ctx, client, address, &document); err != nil {
		return nil, fmt.Errorf("ask the issuer for its configuration: %w", err)
	}
	if document.Issuer == "" || document.Keys == "" {
		return nil, fmt.Errorf("ask the issuer for its configuration: %s lacks issuer or jwks_uri", address)
	}
	var set struct {
		Keys []JWK `json:"keys"`
	}
	if err := fetch(ctx, client, document.Keys, &set); err != nil {
		return nil, fmt.Errorf("ask the issuer for its keys: %w", err)
	}
	i := &Issuer{document.Issuer, make(map[string]*rsa.PublicKey)}
	for _, j := range set.Keys {
		if j.Type != "RSA" || j.ID == "" || j.Use != "" && j.Use != "sig" ||
			j.Algorithm != "" && j.Algorithm != algorithm {
			continue // it signs nothing that is taken here
		}
		key, err := j.key()
		if err != nil {
			return nil, fmt.Errorf("read the key %q of the issuer: %w", sanitize(j.ID), err)
		}
		i.keys[j.ID] = key
	}
	if len(i.keys) == 0 {
		return nil, errors.New("the issuer has no RSA key with an id, and only RS256 is taken")
	}
	return i, nil
}

// sanitize bounds a text of the issuer's in an error.
func sanitize(s string) string { return s[:min(len(s), 100)] }

func fetch(ctx context.Context, client *http.Client, address string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", address, resp.Status)
	}
	return json.NewDecoder(io.LimitReader(resp.Body, maxDocument)).Decode(into)
}
