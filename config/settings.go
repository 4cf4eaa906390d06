package config

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"minibus/emulator"
)

// Port is a TCP port. 0 asks for a free one; [PortOff] means that it is not opened.
type Port int

// PortOff is the value of "off".
const PortOff Port = -1

// Settings has the values of all flags and environment variables.
type Settings struct {
	Config     FileList // configuration files; empty: see [Find]
	ConfigJSON string   // the configuration itself, where no file can be mounted; empty: see Config
	Seed       FileList // files and directories of messages that are sent at the start
	Limits     Profile  // profile of ranges and quotas (DEC-1)

	Data        string // database file; empty: the default path (DEC-6)
	DataDefault string // default path of the image; empty elsewhere
	Ephemeral   bool   // keep everything in memory
	Synchronous string // "normal" (survives a crash of the process) or "full" (survives a power cut)

	Host      string // what to bind: "localhost" (both loopback addresses), an address, or "all"
	AMQPPort  Port
	TLSPort   Port
	HTTPPort  Port
	PortsFile string // gets the bound ports once Minibus is ready

	ExtraPorts        PortList // further ports
	ExtraPortsDefault PortList // the image's, unless ExtraPorts is set; those that can't be bound are skipped

	NamespacePorts    PortRange // of which each namespace beside the default one gets a port; empty: none
	NamespaceSuffixes NameList  // further domains under which hosts have the names of namespaces

	TLSCert  string   // PEM file of a certificate chain; empty: certificates come from Minibus's own authority
	TLSKey   string   // PEM file of its key
	TLSNames NameList // hosts and addresses of this Minibus, for certificates, WebSockets and browsers
	CADir    string   // directory of the authority; empty: beside the database
	CAExport string   // file that gets the authority's certificate at each start; empty for none

	AllowedOrigins OriginList // of web pages that may connect over WebSockets

	Auth        Auth   // which clients are let in (DEC-10)
	EntraIssuer string // whose tokens count beside Minibus's own, with AuthEntra; empty: none

	IdentitySecret string        // opens the issuer where tokens are checked; empty: made from the key of the issuer
	IdentityLife   time.Duration // of the issuer's tokens; zero: an hour

	RootKey       string // of RootManageSharedAccessKey; empty: as in Config.json, else that of Microsoft's emulator
	OpenMetrics   bool   // all clients may read the metrics, even with --auth sas
	Control       string // "off": there is no control API; "on" or empty: there is
	ARM           string // "off": there is no Resource Manager, as without control API; "on" or empty: there is
	ARMStrings    string // what its connection strings name: ARMLocal (or empty), ARMCloud, or a domain
	ARMOtherTypes string // OtherTypesRefuse, or empty, or OtherTypesStore

	ExitWithStdin bool // end when standard input is closed

	User string // "uid:gid" to become after the start as root (DEC-8)

	LogFormat string // "text" or "json"
	LogLevel  slog.Level
	Trace     bool   // print every AMQP frame
	History   Size   // of the record of what happens to messages
	OTLP      string // URL of a collector of traces; empty: none
}

// setting is one row of the table: a flag, its environment variable, its default, its help.
type setting struct {
	name    string   // flag --name, variable MINIBUS_NAME
	aliases []string // further variables, of lower precedence
	arg     string   // placeholder of the value in the help; empty for a switch
	initial string   // default
	group   string   // heading in the help
	help    string
	list    bool // the flag may be given again; its values, or those of the variable with commas, are one a line
	set     func(s *Settings, v string) error
}

// table lists all settings in the order of the help.
var table = []setting{
	{name: "config", arg: "FILE", group: "Entities", list: true,
		help: "Config.json or a template of bicep build; - is standard input, and the flag may be given again " +
			"(without: Microsoft's path if it exists, else queue.1 and topic.1)",
		set: into(func(s *Settings) *FileList { return &s.Config }, parseFileList)},
	{name: "config-json", arg: "JSON", group: "Entities", set: text(func(s *Settings) *string { return &s.ConfigJSON }),
		help: "the text of a Config.json, for a container that no file can be mounted in"},
	{name: "seed", arg: "PATH", group: "Entities", list: true,
		help: "send the messages of a file of JSON lines, or of a directory of them, at the start; the flag may be " +
			"given again",
		set: into(func(s *Settings) *FileList { return &s.Seed }, parseFileList)},
	{name: "limits", arg: "PROFILE", initial: "relaxed", group: "Entities",
		help: "limits on entities, messages and clients: relaxed, standard, premium or emulator",
		set:  into(func(s *Settings) *Profile { return &s.Limits }, ParseProfile)},

	{name: "data", arg: "FILE", group: "Storage", set: text(func(s *Settings) *string { return &s.Data }),
		help: "database file (default: minibus.db in the user's data directory, /data in the image)"},
	{name: "ephemeral", group: "Storage", set: into(func(s *Settings) *bool { return &s.Ephemeral }, parseSwitch),
		help: "keep everything in memory; nothing survives the process"},
	{name: "synchronous", arg: "MODE", initial: "normal", group: "Storage",
		help: "normal: messages survive kill -9; full: a power cut too",
		set:  choice(func(s *Settings) *string { return &s.Synchronous }, "normal", "full")},

	{name: "host", arg: "ADDRESS", initial: "localhost", group: "Network", set: setHost,
		help: "address to listen on: localhost, all, or one address"},
	{name: "amqp-port", arg: "PORT", initial: "5672", group: "Network",
		help: "AMQP; like every port it also takes TLS and HTTP (0: any free one, off: none)",
		set:  into(func(s *Settings) *Port { return &s.AMQPPort }, parsePort)},
	{name: "tls-port", arg: "PORT", initial: "5671", group: "Network",
		help: "AMQP over TLS",
		set:  into(func(s *Settings) *Port { return &s.TLSPort }, parsePort)},
	{name: "http-port", arg: "PORT", initial: "5300", aliases: []string{"EMULATOR_HTTP_PORT"}, group: "Network",
		help: "health and administration",
		set:  into(func(s *Settings) *Port { return &s.HTTPPort }, parsePort)},
	{name: "extra-ports", arg: "LIST", group: "Network",
		help: "more ports, such as 443,80 for SDKs that insist on them (off: none)",
		set:  into(func(s *Settings) *PortList { return &s.ExtraPorts }, parsePortList)},
	{name: "ports-file", arg: "FILE", group: "Network", set: text(func(s *Settings) *string { return &s.PortsFile }),
		help: `when ready, write the ports to FILE: {"amqp":..,"tls":..,"http":..,"extra":[..],"namespaces":{..}}`},

	{name: "namespace-ports", arg: "RANGE", initial: string(DefaultNamespacePorts), group: "Network",
		help: "ports of which each further namespace gets one to keep (0: any free ones, off: none)",
		set:  into(func(s *Settings) *PortRange { return &s.NamespacePorts }, parsePortRange)},
	{name: "namespace-suffix", arg: "LIST", group: "Network",
		help: "domains under which a host is called as its namespace, such as bus.test for orders.bus.test",
		set:  into(func(s *Settings) *NameList { return &s.NamespaceSuffixes }, parseNameList)},

	{name: "auth", arg: "MODE", initial: "any", group: "Security",
		help: "any: accept every token; sas: check keys, expiry and rights; entra: identities and their roles too",
		set:  into(func(s *Settings) *Auth { return &s.Auth }, parseAuth)},
	{name: "entra-issuer", arg: "URL", group: "Security",
		help: "with --auth entra: also take the tokens of this issuer, with the keys that it has at the start",
		set:  into(func(s *Settings) *string { return &s.EntraIssuer }, parseIssuer)},
	{name: "identity-secret", arg: "TEXT", group: "Security", set: setIdentitySecret,
		help: "what clients show for a token where tokens are checked (without: see minibus env --identity)"},
	{name: "identity-token-life", arg: "DURATION", initial: "1h", group: "Security",
		help: "how long the tokens of Minibus's own issuer are valid",
		set:  into(func(s *Settings) *time.Duration { return &s.IdentityLife }, parseLife)},
	{name: "root-key", arg: "KEY", group: "Security", set: setRootKey,
		help: "key of RootManageSharedAccessKey, for --auth sas"},
	{name: "open-metrics", group: "Security",
		help: "let all clients read /metrics, even with --auth sas",
		set:  into(func(s *Settings) *bool { return &s.OpenMetrics }, parseSwitch)},
	{name: "control", arg: "MODE", initial: "on", group: "Security",
		help: "on, or off: no control API, so that no client can steer Minibus over HTTP",
		set:  choice(func(s *Settings) *string { return &s.Control }, "on", "off")},
	{name: "arm", arg: "MODE", initial: "on", group: "Security",
		help: "on, or off: no Azure Resource Manager, for az, Terraform and management SDKs",
		set:  choice(func(s *Settings) *string { return &s.ARM }, "on", "off")},
	{name: "arm-connection-strings", arg: "KIND", initial: ARMLocal, group: "Network",
		help: "what Resource Manager's connection strings name: local: this machine; cloud: " +
			"NAME.servicebus.windows.net; or a domain, as in bus.test:5671",
		set: into(func(s *Settings) *string { return &s.ARMStrings }, parseARMStrings)},
	{name: "arm-other-types", arg: "MODE", initial: OtherTypesRefuse, group: "Network",
		help: "what Resource Manager does with resources that Minibus does not have: refuse, or store: keep and show " +
			"them without effect",
		set: choice(func(s *Settings) *string { return &s.ARMOtherTypes }, OtherTypesRefuse, OtherTypesStore)},
	{name: "tls-cert", arg: "FILE", group: "Security", set: text(func(s *Settings) *string { return &s.TLSCert }),
		help: "certificate chain in PEM, instead of certificates of Minibus's own CA"},
	{name: "tls-key", arg: "FILE", group: "Security", set: text(func(s *Settings) *string { return &s.TLSKey }),
		help: "the key of --tls-cert, in PEM"},
	{name: "tls-names", arg: "LIST", group: "Security",
		help: "hosts and addresses of this Minibus, for clients that send no server name (SNI), WebSockets and" +
			" browsers",
		set: into(func(s *Settings) *NameList { return &s.TLSNames }, parseNameList)},
	{name: "allowed-origins", arg: "LIST", group: "Security",
		help: "web pages that may connect over WebSockets, such as http://localhost:3000",
		set:  into(func(s *Settings) *OriginList { return &s.AllowedOrigins }, parseOriginList)},
	{name: "ca-dir", arg: "DIR", group: "Security", set: text(func(s *Settings) *string { return &s.CADir }),
		help: "directory of the CA certificate and its key (without: beside the database)"},
	{name: "ca-export", arg: "FILE", group: "Security", set: text(func(s *Settings) *string { return &s.CAExport }),
		help: "at each start, write the CA certificate to FILE, without its key"},
	{name: "user", arg: "UID:GID", group: "Security", set: text(func(s *Settings) *string { return &s.User }),
		help: "switch to this user after starting as root (Linux)"},

	{name: "exit-with-stdin", group: "Process",
		help: "end, as at an interrupt, when standard input is closed: a program that starts Minibus with a pipe" +
			" takes it along",
		set: into(func(s *Settings) *bool { return &s.ExitWithStdin }, parseSwitch)},

	{name: "log-format", arg: "FORMAT", initial: "text", group: "Logging",
		help: "text or json",
		set:  choice(func(s *Settings) *string { return &s.LogFormat }, "text", "json")},
	{name: "history", arg: "SIZE", initial: "16MiB", group: "Logging",
		help: "memory for what happened to messages, such as 64MiB; the oldest is forgotten (off: none)",
		set:  into(func(s *Settings) *Size { return &s.History }, parseSize)},
	{name: "log-level", arg: "LEVEL", initial: "info", group: "Logging", set: setLevel,
		help: "debug, info, warn or error"},
	{name: "otlp", arg: "URL", group: "Logging",
		help: "send a trace of each message to this OpenTelemetry collector, such as http://localhost:4318",
		set:  into(func(s *Settings) *string { return &s.OTLP }, parseCollector)},
	{name: "trace", group: "Logging", set: into(func(s *Settings) *bool { return &s.Trace }, parseSwitch),
		help: "print every AMQP frame, without bodies and tokens"},

	{name: "extra-ports-default", arg: "LIST",
		set: into(func(s *Settings) *PortList { return &s.ExtraPortsDefault }, parsePortList)},
	{name: "data-default", arg: "FILE", set: text(func(s *Settings) *string { return &s.DataDefault })},
}

// into returns the set of a setting that parse reads.
func into[T any](field func(*Settings) *T, parse func(string) (T, error)) func(*Settings, string) error {
	return func(s *Settings, v string) (err error) {
		*field(s), err = parse(v)
		return err
	}
}

func text(field func(*Settings) *string) func(*Settings, string) error {
	return into(field, func(v string) (string, error) { return v, nil })
}

func choice(field func(*Settings) *string, words ...string) func(*Settings, string) error {
	return into(field, func(v string) (string, error) {
		if word := known(words, v); word != "" {
			return word, nil
		}
		return "", fmt.Errorf("found %q; allowed: %s", v, strings.Join(words, ", "))
	})
}

func parseSwitch(v string) (bool, error) {
	switch strings.ToLower(v) {
	case "1", "true", "yes", "on":
		return true, nil
	case "0", "false", "no", "off":
		return false, nil
	}
	return false, fmt.Errorf("found %q; allowed: true, false", v)
}

// Values of Settings.ARMStrings that are no domain.
const (
	ARMLocal = "local"
	ARMCloud = "cloud"
)

// Values of Settings.ARMOtherTypes.
const (
	OtherTypesRefuse = "refuse"
	OtherTypesStore  = "store"
)

// parseARMStrings takes a word in any case, or a domain with or without a port.
func parseARMStrings(v string) (string, error) {
	if word := known([]string{ARMLocal, ARMCloud}, v); word != "" {
		return word, nil
	}
	domain := strings.ToLower(strings.Trim(v, "."))
	host, port, hasPort := strings.Cut(domain, ":")
	if _, err := parsePort(port); hasPort && err != nil || emulator.CheckAlias("x."+host) != nil || host == "" {
		return "", fmt.Errorf("found %q; allowed: local, cloud, or a domain such as bus.test or bus.test:5671", v)
	}
	return domain, nil
}

func parsePort(v string) (Port, error) {
	if strings.EqualFold(v, "off") {
		return PortOff, nil
	}
	n, err := strconv.ParseUint(v, 10, 16)
	if err != nil {
		return 0, fmt.Errorf("found %q; allowed: a port from 1 to 65535, 0 for a free one, off for none", v)
	}
	return Port(n), nil
}

// setHost accepts an address, also in the brackets of a URL, or a word in any case.
func setHost(s *Settings, v string) error {
	host := v
	if strings.HasPrefix(v, "[") || strings.HasSuffix(v, "]") {
		host = strings.TrimSuffix(strings.TrimPrefix(v, "["), "]")
		if len(host) != len(v)-2 || net.ParseIP(host) == nil {
			return fmt.Errorf("found %q; allowed: localhost, all, or an address such as 127.0.0.1 or ::1", v)
		}
	}
	switch {
	case host == "*":
		host = "all"
	case strings.EqualFold(host, "all"), strings.EqualFold(host, "localhost"):
		host = strings.ToLower(host)
	}
	s.Host = host
	return nil
}

// setRootKey refuses an empty key: an unset shell variable would choose the well-known one.
func setRootKey(s *Settings, v string) error {
	if strings.TrimSpace(v) == "" {
		return errors.New("found nothing; give a key, such as what openssl rand -base64 32 prints, or leave it out")
	}
	s.RootKey = v
	return nil
}

// setIdentitySecret refuses a short text, which could be guessed.
func setIdentitySecret(s *Settings, v string) error {
	if len(strings.TrimSpace(v)) < shortestSecret {
		return fmt.Errorf("found a text of %d characters; give one of %d or more, such as what openssl rand -hex 24 "+
			"prints, or leave it out", len(strings.TrimSpace(v)), shortestSecret)
	}
	s.IdentitySecret = v
	return nil
}

const shortestSecret = 12

func parseIssuer(v string) (string, error) {
	if u, err := url.Parse(v); v != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return "", fmt.Errorf("found %q; allowed: the URL of an issuer, such as https://idp.test/realms/dev", v)
	}
	return v, nil
}

func parseLife(v string) (time.Duration, error) {
	d, err := time.ParseDuration(v)
	if err != nil || d < time.Second || d > 24*time.Hour {
		return 0, fmt.Errorf("found %q; allowed: 1s to 24h", v)
	}
	return d, nil
}

func parseCollector(v string) (string, error) {
	if u, err := url.Parse(v); v != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return "", fmt.Errorf("found %q; allowed: the URL of a collector that takes OTLP over HTTP, such as "+
			"http://localhost:4318", v)
	}
	return v, nil
}

func setLevel(s *Settings, v string) error {
	if err := s.LogLevel.UnmarshalText([]byte(v)); err != nil {
		return fmt.Errorf("found %q; allowed: debug, info, warn, error", v)
	}
	return nil
}

// Auth says which tokens are accepted.
type Auth string

// The modes.
const (
	AuthAny Auth = "any" // any token or none; the zero value means the same
	AuthSAS Auth = "sas" // tokens signed with the key of a shared access policy, for the rights of that policy
	// AuthEntra: the same, and web tokens of Minibus's own issuer, for the rights of their holders' roles.
	AuthEntra Auth = "entra"
)

// Checks reports whether tokens are checked at all.
func (a Auth) Checks() bool { return a == AuthSAS || a == AuthEntra }

func parseAuth(v string) (Auth, error) {
	switch a := Auth(strings.ToLower(v)); a {
	case AuthAny, AuthSAS, AuthEntra:
		return a, nil
	}
	return "", fmt.Errorf("found %q; allowed: any, sas, entra", v)
}
