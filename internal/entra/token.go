package entra

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
)

// algorithm is the only one that tokens are signed with.
const algorithm = "RS256"

// The tenant of this Minibus, and the person at the keyboard, who gets a token without naming an identity. Their ids
// never change.
const (
	Tenant    = "00000000-0000-0000-0000-000000000000" // as of Resource Manager
	Developer = "6d696e69-6275-4773-8000-646576656c6f"
)

// DeveloperApp is the client id of the developer's tokens.
const DeveloperApp = "6d696e69-6275-4773-8000-617070000000"

// ObjectOf returns the object id of an application that was not made through Resource Manager: its client id, so that a
// role can be assigned to it, or if that is no GUID one that is derived from it.
func ObjectOf(client string) string {
	if id, err := uuid.Parse(client); err == nil {
		return id.String()
	}
	return uuid.NewSHA1(uuid.MustParse(Tenant), []byte(client)).String()
}

// Kinds of tokens: the type in their header, which keeps one kind from being used as another.
const (
	KindAccess  = "JWT"
	KindID      = "minibus-id+jwt"
	KindRefresh = "minibus-refresh+jwt"
)

// Token has the claims of a web token.
type Token struct {
	Issuer   string
	Audience []string
	Object   string   // oid: who holds the token, as role assignments name it; of other issuers sub, without an oid
	Tenant   string   // tid
	App      string   // appid, client id
	Groups   []string // ids of the groups of who holds the token
	Scope    string   // of a refresh token: for what it gets tokens
	Bond     string   // of a refresh token: the bond of the identity secret by which somebody got it
	User     bool     // a person, not an application

	NotBefore time.Time
	Expires   time.Time

	Own bool // this Minibus has made it
}

// Principals returns the ids by which role assignments may name the holder.
func (t *Token) Principals() []string { return append([]string{t.Object}, t.Groups...) }

// IsDeveloper reports whether the token is the developer's, who may do everything.
func (t *Token) IsDeveloper() bool { return t.Own && t.Object == Developer }

// audiences are one text or several.
type audiences []string

func (a audiences) MarshalJSON() ([]byte, error) {
	if len(a) == 1 {
		return json.Marshal(a[0])
	}
	return json.Marshal([]string(a))
}

func (a *audiences) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*a = audiences{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(a))
}

// claims is a token's middle part, in the names of Microsoft Entra ID.
type claims struct {
	jwt.RegisteredClaims
	Audience audiences `json:"aud"` // instead of the embedded one, which always writes a list
	Object   string    `json:"oid,omitempty"`
	Tenant   string    `json:"tid,omitempty"`
	App      string    `json:"appid,omitempty"`
	Party    string    `json:"azp,omitempty"`
	Kind     string    `json:"idtyp,omitempty"`
	Version  string    `json:"ver,omitempty"`
	Unique   string    `json:"uti,omitempty"`
	Groups   []string  `json:"groups,omitempty"`
	Scope    string    `json:"scp,omitempty"`
	Bond     string    `json:"bond,omitempty"`
	Name     string    `json:"name,omitempty"`
	User     string    `json:"preferred_username,omitempty"`
}

// Sign makes a token of a kind, valid from now on for so long.
func (k *Key) Sign(kind string, t Token, now time.Time, life time.Duration) (string, error) {
	c := claims{
		RegisteredClaims: jwt.RegisteredClaims{Issuer: t.Issuer, Subject: t.Object, IssuedAt: jwt.NewNumericDate(now),
			NotBefore: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(life))},
		Audience: t.Audience, Object: t.Object, Tenant: t.Tenant, App: t.App, Party: t.App, Version: "2.0",
		Unique: uuid.NewString(), Groups: t.Groups, Scope: t.Scope, Bond: t.Bond, Kind: "app",
	}
	if t.User {
		c.Kind, c.Name, c.User = "user", "Developer", "developer@minibus.local"
	}
	unsigned := jwt.NewWithClaims(jwt.SigningMethodRS256, c)
	unsigned.Header["kid"] = k.id
	unsigned.Header["typ"] = kind
	text, err := unsigned.SignedString(k.private)
	if err != nil {
		return "", fmt.Errorf("sign a token: %w", err)
	}
	return text, nil
}

// token reads the claims.
func (c *claims) token(own bool) *Token {
	t := &Token{Issuer: c.Issuer, Audience: c.Audience, Object: c.Object, Tenant: c.Tenant, App: c.App,
		Groups: slices.Clone(c.Groups), Scope: c.Scope, Bond: c.Bond, User: c.Kind == "user", Own: own}
	if t.Object == "" {
		t.Object = c.Subject
	}
	if t.App == "" {
		t.App = c.Party
	}
	if c.NotBefore != nil {
		t.NotBefore = c.NotBefore.Time
	}
	if c.ExpiresAt != nil {
		t.Expires = c.ExpiresAt.Time
	}
	return t
}
