package cli

import (
	"os"

	"github.com/spf13/cobra"

	"minibus/internal/amqp/messagejson"
)

// jobEdit says what a job changes in each message.
type jobEdit struct {
	Strip            bool               `json:"strip"`
	Properties       messagejson.Values `json:"properties,omitempty"`
	RemoveProperties []string           `json:"removeProperties,omitempty"`
	Subject          *string            `json:"subject,omitempty"`
	Body             *string            `json:"body,omitempty"`
	BodyBase64       []byte             `json:"bodyBase64,omitempty"`
}

// editFlags are those by which dlq resubmit changes messages.
type editFlags struct {
	set, unset          []string
	subject, body, file string
	strip               bool
}

// editNames are the names of the flags.
var editNames = []string{"set", "unset", "subject", "body", "body-file", "strip"}

func (f *editFlags) add(c *cobra.Command) {
	p := c.Flags()
	p.StringArrayVar(&f.set, "set", nil, "give each the application property `name=value`, or name=type:value; only with a Minibus")
	p.StringArrayVar(&f.unset, "unset", nil, "take the application property with this `name` away; only with a Minibus")
	p.StringVar(&f.subject, "subject", "", "give each this subject, a `text`; only with a Minibus")
	p.StringVar(&f.body, "body", "", "give each this body, a `text`; only with a Minibus")
	p.StringVar(&f.file, "body-file", "", "give each the body in this `file`; only with a Minibus")
	p.BoolVar(&f.strip, "strip", true, "take the properties DeadLetterReason and DeadLetterErrorDescription away; --strip=false only with a Minibus")
}

// edit returns what the flags say, nil if none was given.
func (f *editFlags) edit(c *cobra.Command) (*jobEdit, error) {
	some := false
	for _, name := range editNames {
		some = some || c.Flags().Changed(name) && (name != "strip" || !f.strip)
	}
	if !some {
		return nil, nil
	}
	set, err := propertyPairs("--set", f.set)
	if err != nil {
		return nil, err
	}
	e := &jobEdit{Strip: f.strip, Properties: mapToJSON(set), RemoveProperties: f.unset, Subject: given(c, "subject", &f.subject), Body: given(c, "body", &f.body)}
	if f.file == "" {
		return e, nil
	}
	if e.Body != nil {
		return nil, Usage("dlq resubmit: --body and --body-file contradict each other: leave one out")
	}
	data, err := os.ReadFile(f.file)
	if err != nil {
		return nil, Usage("--body-file: %v", err)
	}
	if len(data) == 0 {
		e.Body = new(string) // no bytes in base64 would mean that the body stays
		return e, nil
	}
	e.BodyBase64 = data
	return e, nil
}
