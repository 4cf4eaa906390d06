package cli

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"
	"github.com/spf13/cobra"

	"minibus/config"
	"minibus/internal/amqp/messagejson"
)

// A property of an entity is a field of the SDK's structure, a pointer. It is called as in Config.json, its flag is
// that in kebab-case.

// renamed are the fields that Config.json calls otherwise.
var renamed = map[string]string{
	"EnableDeadLetteringOnFilterEvaluationExceptions": "DeadLetteringOnFilterEvaluationExceptions",
}

// fixed are the properties that an entity gets when it is created, and keeps.
var fixed = []string{"RequiresSession", "RequiresDuplicateDetection", "EnablePartitioning"}

// durations are the properties whose value is a duration.
var durations = []string{"LockDuration", "DefaultMessageTimeToLive", "DuplicateDetectionHistoryTimeWindow",
	"AutoDeleteOnIdle"}

// meaning explains each property in the help.
var meaning = map[string]string{
	"LockDuration":                              "how long a received message is locked, such as 30s",
	"MaxSizeInMegabytes":                        "space for messages",
	"RequiresDuplicateDetection":                "leave out messages whose id was sent before; fixed when created",
	"RequiresSession":                           "deliver by session; fixed when created",
	"DefaultMessageTimeToLive":                  "time to live of messages without one, such as 1h or 14d",
	"DeadLetteringOnMessageExpiration":          "dead-letter expired messages instead of dropping them",
	"DuplicateDetectionHistoryTimeWindow":       "how long ids are remembered",
	"MaxDeliveryCount":                          "deliveries before a message is dead-lettered",
	"EnableBatchedOperations":                   "let the service batch writes",
	"Status":                                    "Active, Disabled, SendDisabled or ReceiveDisabled",
	"AutoDeleteOnIdle":                          "delete the entity after this time without use",
	"EnablePartitioning":                        "spread over partitions; fixed when created",
	"ForwardTo":                                 "queue or topic that gets the messages; empty for none",
	"ForwardDeadLetteredMessagesTo":             "queue or topic that gets the dead letters; empty for none",
	"UserMetadata":                              "any text",
	"MaxMessageSizeInKilobytes":                 "largest message (Premium)",
	"SupportOrdering":                           "keep the order of messages in all subscriptions",
	"DeadLetteringOnFilterEvaluationExceptions": "dead-letter messages for which a filter fails",
}

// statuses are the values of Status.
var statuses = []admin.EntityStatus{admin.EntityStatusActive, admin.EntityStatusDisabled,
	admin.EntityStatusSendDisabled, admin.EntityStatusReceiveDisabled}

// eachProperty calls f with the name and the field of each property of the SDK's structure that properties points to.
func eachProperty(properties any, f func(name string, field reflect.Value) error) error {
	v := reflect.ValueOf(properties).Elem()
	for i := range v.NumField() {
		field, name := v.Field(i), v.Type().Field(i).Name
		if field.Kind() != reflect.Pointer || field.Type().Elem().Kind() == reflect.Struct {
			continue
		}
		if other := renamed[name]; other != "" {
			name = other
		}
		if err := f(name, field); err != nil {
			return err
		}
	}
	return nil
}

// kebab returns the name of a property's flag.
func kebab(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// propertyFlags gives a command a flag for each property, and returns the function that puts those given into the
// structure. It returns how many were given.
func propertyFlags[T any](c *cobra.Command, creating bool) func(*T) (int, error) {
	values := make(map[string]*string)
	_ = eachProperty(new(T), func(name string, field reflect.Value) error {
		v := new(string)
		values[name] = v
		f := c.Flags().VarPF(&propertyValue{v, placeholder(name, field)}, kebab(name), "", meaning[name])
		if field.Type().Elem().Kind() == reflect.Bool {
			f.NoOptDefVal = "true"
		}
		if !creating && slices.Contains(fixed, name) {
			f.Hidden = true // known, so that the error can say why not
		}
		return nil
	})
	_ = c.RegisterFlagCompletionFunc("status",
		cobra.FixedCompletions([]string{"Active", "Disabled", "SendDisabled", "ReceiveDisabled"},
			cobra.ShellCompDirectiveNoFileComp))
	return func(properties *T) (given int, err error) {
		err = eachProperty(properties, func(name string, field reflect.Value) error {
			flag := kebab(name)
			if !c.Flags().Changed(flag) {
				return nil
			}
			given++
			if !creating && slices.Contains(fixed, name) {
				return Usage("--%s: an entity gets it when it is created, and keeps it; delete the entity and "+
					"create it again", flag)
			}
			return setProperty(field, name, *values[name])
		})
		return given, err
	}
}

// setProperty puts the value of a flag into a field.
func setProperty(field reflect.Value, name, text string) error {
	value := reflect.New(field.Type().Elem())
	wrong := func(allowed string) error {
		return Usage("--%s: found %q; allowed: %s", kebab(name), oneLine(text), allowed)
	}
	switch value.Elem().Kind() {
	case reflect.Bool:
		b, err := strconv.ParseBool(strings.ToLower(text))
		if err != nil {
			return wrong("true, false")
		}
		value.Elem().SetBool(b)
	case reflect.Int32, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, value.Elem().Type().Bits())
		if err != nil {
			return wrong("a whole number")
		}
		value.Elem().SetInt(n)
	default:
		switch {
		case slices.Contains(durations, name):
			d, err := parseDuration(text)
			if err != nil {
				return wrong(allowedDurations)
			}
			text = config.FormatDuration(d)
		case name == "Status":
			i := slices.IndexFunc(statuses,
				func(s admin.EntityStatus) bool { return strings.EqualFold(string(s), text) })
			if i < 0 {
				return wrong(meaning["Status"])
			}
			text = string(statuses[i])
		}
		value.Elem().SetString(text)
	}
	field.Set(value)
	return nil
}

const allowedDurations = "a duration such as 30s, 1h30m, 14d, PT1M or forever"

// parseDuration reads a duration as Go, ISO 8601 and people write it.
func parseDuration(text string) (time.Duration, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	if text == "forever" {
		return config.Forever, nil
	}
	if d, err := config.ParseDuration(text); err == nil {
		return d, nil
	}
	if days, rest, ok := strings.Cut(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 20)
		if err != nil {
			return 0, fmt.Errorf("read the days of %q: %w", text, err)
		}
		more := time.Duration(0)
		if rest != "" {
			if more, err = time.ParseDuration(rest); err != nil {
				return 0, fmt.Errorf("read a duration: %w", err)
			}
		}
		if n > uint64(config.Forever/(24*time.Hour)) {
			return config.Forever, nil
		}
		return time.Duration(n)*24*time.Hour + more, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is no duration", text)
	}
	return d, nil
}

// placeholder stands for the value in the help.
func placeholder(name string, field reflect.Value) string {
	switch field.Type().Elem().Kind() {
	case reflect.Bool:
		return "bool"
	case reflect.Int32, reflect.Int64:
		return "number"
	}
	if slices.Contains(durations, name) {
		return "duration"
	}
	if name == "Status" {
		return "status"
	}
	if strings.HasPrefix(name, "Forward") {
		return "entity"
	}
	return "text"
}

// propertyValue keeps the text of a flag until the entity is known.
type propertyValue struct {
	text *string
	kind string
}

func (v *propertyValue) String() string { return "" }

// Set implements pflag.Value.
func (v *propertyValue) Set(s string) error {
	*v.text = s
	return nil
}

// Type implements pflag.Value.
func (v *propertyValue) Type() string { return v.kind }

// shown is the value of a property as it is shown. The service returns an address of the same namespace as the
// target of a forward.
func shown(name string, field reflect.Value) any {
	if strings.HasPrefix(name, "Forward") {
		if _, rest, ok := strings.Cut(field.Elem().String(), "://"); ok {
			_, path, _ := strings.Cut(rest, "/")
			return path
		}
	}
	return field.Elem().Interface()
}

// asMap returns the properties that are set, by their names in Config.json.
func asMap(properties any) map[string]any {
	m := make(map[string]any)
	_ = eachProperty(properties, func(name string, field reflect.Value) error {
		if !field.IsNil() {
			m[name] = shown(name, field)
		}
		return nil
	})
	return m
}

// pairs returns the properties in the order of the structure, for people.
func pairs(properties any) (all [][2]string) {
	_ = eachProperty(properties, func(name string, field reflect.Value) error {
		if !field.IsNil() {
			all = append(all, [2]string{kebab(name), fmt.Sprint(shown(name, field))})
		}
		return nil
	})
	return all
}

// propertyPairs reads NAME=VALUE and NAME=TYPE:VALUE, the values of a flag. The values that it returns are as the
// SDK has them.
func propertyPairs(flag string, pairs []string) (map[string]any, error) {
	if len(pairs) == 0 {
		return nil, nil
	}
	m := make(map[string]any, len(pairs))
	for _, pair := range pairs {
		name, text, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, Usage("%s: found %q; allowed: NAME=VALUE or NAME=TYPE:VALUE", flag, oneLine(pair))
		}
		m[name] = text
		kind, value, typed := strings.Cut(text, ":")
		if !typed || !messagejson.HasScalar(kind) {
			continue
		}
		v, err := messagejson.Scalar(kind, value)
		if err == nil {
			m[name], err = toSDK(v)
		}
		if err != nil {
			return nil, Usage("%s %s: %v", flag, oneLine(name), err)
		}
	}
	return m, nil
}
