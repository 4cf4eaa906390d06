package emulator

import (
	"cmp"
	crand "crypto/rand"
	"encoding/base64"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// RootPolicy is the name of the policy that a namespace has from its creation, unless it is created with others.
const RootPolicy = "RootManageSharedAccessKey"

// newRootPolicy makes the policy with new keys.
func newRootPolicy() AuthorizationRule {
	return AuthorizationRule{KeyName: RootPolicy, Rights: []string{"Listen", "Manage", "Send"}, PrimaryKey: NewKey(),
		SecondaryKey: NewKey()}
}

// NewKey makes a key as the service does: 32 random bytes in base64.
func NewKey() string {
	var key [32]byte
	crand.Read(key[:])
	return base64.StdEncoding.EncodeToString(key[:])
}

// CheckNamespaceName fails for a name that the service does not take.
func CheckNamespaceName(name string) error {
	letter := func(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
	digit := func(c byte) bool { return '0' <= c && c <= '9' }
	good := len(name) >= minNamespaceName && len(name) <= MaxName && letter(name[0]) && name[len(name)-1] != '-'
	for i := 0; good && i < len(name); i++ {
		good = letter(name[i]) || digit(name[i]) || name[i] == '-'
	}
	lower := strings.ToLower(name)
	if good && !strings.HasSuffix(lower, "-sb") && !strings.HasSuffix(lower, "-mgmt") {
		return nil
	}
	return errorf(CodeArgument, "",
		"The specified service namespace '%.60s' is invalid. A name has %d to %d letters, digits and hyphens, "+
			"begins with a letter, ends with a letter or digit, and does not end with '-sb' or '-mgmt'.",
		name, minNamespaceName, MaxName)
}

// minNamespaceName is how many characters the name of a namespace has at least; at most it has MaxName.
const minNamespaceName = 6

// Check fails with CodeArgument for a name or settings that no new namespace can have.
func (b *Broker) Check(name string, o NamespaceOptions) error {
	if err := CheckNamespaceName(name); err != nil {
		return err
	}
	return b.checkOptions(name, &NamespaceOptions{}, &o)
}

// checkOptions fails for settings that no namespace can have. Aliases and policies that it has already pass: they may
// have been stored when there were other suffixes.
func (b *Broker) checkOptions(name string, before, o *NamespaceOptions) error {
	if o.Limits != nil && int(*o.Limits) >= len(profiles) {
		return errorf(CodeArgument, "", "The namespace '%s' can't have the limits %d: there is no such profile.",
			name, *o.Limits)
	}
	if o.Port < 0 || o.Port > 65535 {
		return errorf(CodeArgument, "",
			"The namespace '%s' can't have the port %d: choose one from 1 to 65535, or none.", name, o.Port)
	}
	if !slices.Equal(o.Aliases, before.Aliases) {
		if n := len(o.Aliases); n > MaxAliases {
			return errorf(CodeArgument, "", "The namespace '%s' can't have %d aliases: at most %d.", name, n,
				MaxAliases)
		}
		for _, alias := range o.Aliases {
			if err := checkAlias(alias, b.suffixes); err != nil {
				return err
			}
		}
	}
	if reflect.DeepEqual(o.Policies, before.Policies) {
		return nil
	}
	return checkPolicies(name, o.Policies)
}

func checkPolicies(name string, policies []AuthorizationRule) error {
	if n := len(policies); n > MaxAuthorizationRules {
		return errorf(CodeArgument, "", "The namespace '%s' can't have %d authorization rules: at most %d.", name, n,
			MaxAuthorizationRules)
	}
	seen := make(map[string]bool)
	for _, p := range policies {
		if err := cmp.Or(CheckKeyName(p.KeyName), CheckKey(p.KeyName, p.PrimaryKey),
			CheckKey(p.KeyName, p.SecondaryKey)); err != nil {
			return err
		}
		key := strings.ToLower(p.KeyName)
		if seen[key] {
			return errorf(CodeArgument, "", "The namespace '%s' has two authorization rules with the name '%s'.",
				name, p.KeyName)
		}
		seen[key] = true
	}
	return nil
}

// CheckAlias fails for what can't be an alias of a namespace, whatever the suffixes of the broker are.
func CheckAlias(alias string) error { return checkAlias(alias, serviceSuffixes) }

func checkAlias(alias string, suffixes []string) error {
	host := strings.ToLower(strings.TrimSuffix(alias, "."))
	wrong := ""
	switch under := func(suffix string) bool { return strings.HasSuffix(host, "."+suffix) }; {
	case isAddress(host):
		wrong = "is an address, at which all namespaces are. Give the name of a host"
	case !isHostName(host):
		wrong = fmt.Sprintf("is not the name of a host. Such a name has at most %d letters, digits, '-', '_' and '.', "+
			"and no port", maxHost)
	case host == "localhost":
		wrong = "means all namespaces of this machine. Choose another host, or give the namespace a port"
	case slices.ContainsFunc(suffixes, under):
		wrong = "is under a domain where the host is the name of a namespace. Choose a host outside"
	default:
		return nil
	}
	return errorf(CodeArgument, "", "The alias %.60q %s.", alias, wrong)
}

// maxHost and maxHostLabel are how many characters the name of a host and a part of it have at most [RFC 1035 2.3.4].
const (
	maxHost      = 253
	maxHostLabel = 63
)

// isHostName reports whether a text can be the name of a host. Names of containers have underscores too.
func isHostName(host string) bool {
	bad := func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' }
	if len(host) > maxHost {
		return false
	}
	for label := range strings.SplitSeq(host, ".") {
		if n := len(label); n == 0 || n > maxHostLabel || label[0] == '-' || label[n-1] == '-' ||
			strings.ContainsFunc(label, bad) {
			return false
		}
	}
	return true
}

// isAddress reports whether a text is the address of a host. Resolvers take all that ends with a number for one, such
// as 127.1.
func isAddress(host string) bool {
	_, err := strconv.ParseUint(host[strings.LastIndexByte(host, '.')+1:], 0, 64)
	return err == nil || strings.Count(host, ":") > 1
}

// CheckKeyName fails for a name that no authorization rule can have.
func CheckKeyName(name string) error {
	if n := len(name); n == 0 || n > MaxKeyName {
		return errorf(CodeArgument, "",
			"The name of an authorization rule, %.60q, has %d bytes: it must have between 1 and %d.",
			name, n, MaxKeyName)
	}
	if strings.Contains(name, "=") || !fitsConnectionString(name) {
		return errorf(CodeArgument, "",
			"The name of the authorization rule %.60q has an equals sign, a semicolon, a quotation mark, a blank "+
				"or a control character. Leave it out: no connection string could have it.", name)
	}
	return nil
}

// CheckKey fails for a key that no authorization rule can have. None passes. The error does not show the key.
func CheckKey(rule, key string) error {
	if !fitsConnectionString(key) {
		return errorf(CodeArgument, "",
			"A key of the authorization rule %.60q has a semicolon, a quotation mark, a blank or a control character. "+
				"Choose another key: no connection string could have it.", rule)
	}
	return nil
}

// fitsConnectionString reports whether clients read a value in a connection string as it is.
func fitsConnectionString(value string) bool {
	return !strings.ContainsFunc(value,
		func(c rune) bool { return !unicode.IsPrint(c) || strings.ContainsRune(" ;\"'", c) })
}

// handle is one of the things by which a namespace is found. Exactly one field is set.
type handle struct {
	name  string // in lower case
	alias string // as canonicalHost returns it
	port  int
}

func (h handle) String() string {
	switch {
	case h.name != "":
		return "name '" + h.name + "'"
	case h.alias != "":
		return "alias '" + h.alias + "'"
	}
	return fmt.Sprintf("port %d", h.port)
}

// handles returns everything by which a namespace with that name and these settings is found.
func (o *NamespaceOptions) handles(name string) []handle {
	all := []handle{{name: strings.ToLower(name)}}
	for _, alias := range o.Aliases {
		all = append(all, handle{alias: canonicalHost(alias)})
	}
	if o.Port != 0 {
		all = append(all, handle{port: o.Port})
	}
	return all
}
