package emulator

import (
	"strings"
	"unicode/utf8"

	"minibus/emulator/filter"
	"minibus/internal/amqp/message"
)

// maxHeaderOfSent is how many bytes the properties of a message may have in every profile (QUO-8).
const maxHeaderOfSent = 64 << 10

// checkMessage reports what about a message is beyond the limits, or nil. Relaxed has only those that protect the
// broker.
func (p Profile) checkMessage(entity string, m *message.Message, i *message.Info) error {
	if n := m.HeaderBytes(); n > maxHeaderOfSent {
		return errorf(CodeHeaderTooLarge, entity,
			"The size quota for this stream (%d) has been exceeded. "+
				"The properties of the message have %d bytes in all.",
			maxHeaderOfSent, n)
	}
	if p == ProfileRelaxed {
		return nil
	}
	most := &profiles[p]
	for _, id := range []struct{ name, value string }{
		{"MessageId", i.MessageID}, {"SessionId", i.GroupID}, {"PartitionKey", i.PartitionKey},
	} {
		if len(id.value) > most.ID && utf8.RuneCountInString(id.value) > most.ID {
			return errorf(CodeArgument, entity, "The %s of the message has more than %d characters.", id.name, most.ID)
		}
	}
	if name, n := m.LargestProperty(most.Property); n > most.Property {
		return errorf(CodeQuotaExceeded, entity,
			"The property '%.64s' of the message has %d bytes, which exceeds the limit of %d bytes.",
			name, n, most.Property)
	}
	return nil
}

// CheckBatch reports whether a batch has more messages than the profile takes (QUO-7, DEC-17).
func (p Profile) CheckBatch(entity string, n int) error {
	most := profiles[p].Batch
	if most == 0 || n <= most {
		return nil
	}
	return errorf(CodeNotAllowed, entity, "The batch has %d messages, which exceeds the limit of %d messages.", n, most)
}

// maxSizeBytes is the entity's quota (QUO-1, PART-1).
func (o QueueOptions) maxSizeBytes(l Profile) int64 {
	p, mb := &profiles[l], o.MaxSizeInMegabytes
	switch {
	case p.FixedMegabytes > 0:
		mb = p.FixedMegabytes
	case mb <= 0:
		mb = DefaultMegabytes
	}
	if o.EnablePartitioning {
		mb *= p.Partitions
	}
	return mb << 20
}

// CheckFilter reports what keeps a text with these parameters from being a SQL filter under the profile: it does not
// parse, or it is too long (QUO-10). The error's text is the service's, with line and column.
func (p Profile) CheckFilter(sql string, params Values) error {
	values, err := params.forFilter()
	if err == nil {
		_, err = p.parseFilter(sql, values)
	}
	return err
}

// CheckSelectorOrFilter is CheckFilter for the rule $Default of a subscription of JMS clients (JMS-9).
func (p Profile) CheckSelectorOrFilter(text string, params Values) error {
	o := RuleOptions{Name: DefaultRuleName, SQL: text, Parameters: params}
	if o.selector() != nil {
		return p.checkLength(text)
	}
	return p.CheckFilter(text, params)
}

// CheckAction is CheckFilter for a SQL action, whose statements are counted too.
func (p Profile) CheckAction(sql string, params Values) error {
	values, err := params.forFilter()
	if err == nil {
		_, err = p.parseAction(sql, values)
	}
	return err
}

func (p Profile) parseFilter(sql string, params map[string]filter.Value) (*filter.Filter, error) {
	if err := p.checkLength(sql); err != nil {
		return nil, err
	}
	return filter.ParseFilter(sql, params)
}

func (p Profile) parseAction(sql string, params map[string]filter.Value) (*filter.Action, error) {
	if err := p.checkLength(sql); err != nil {
		return nil, err
	}
	a, err := filter.ParseAction(sql, params)
	if err != nil {
		return nil, err
	}
	if n, most := a.Statements(), profiles[p].Statements; most > 0 && n > most {
		return nil, errorf(CodeArgument, "",
			"The action has %d statements, which exceeds the limit of %d statements.", n, most)
	}
	return a, nil
}

// checkLength reports a text that the service would find too long. The relaxed profile leaves it to the language.
func (p Profile) checkLength(sql string) error {
	if n, most := filter.TextLength(sql), profiles[p].Expression; most > 0 && n > most {
		return errorf(CodeArgument, "",
			"The SQL expression has %d characters, which exceeds the limit of %d characters.", n, most)
	}
	return nil
}

// The expressions of the service's true and false filters.
const (
	TrueExpression  = filter.TrueText
	FalseExpression = filter.FalseText
)

// segmentCharacters ends the service's error for a name with a character that is not allowed.
const segmentCharacters = "' contains character(s) that is not allowed by Service Bus. Entity segments can contain " +
	"only letters, numbers, periods (.), hyphens (-), and underscores (_)."

// CheckPath reports what is wrong with the path of a new queue or topic, or nil (QUO-9). Segments "." and "..",
// segments that begin with $, and control characters are not allowed in any profile (DEC-9): addresses would lose them,
// or they belong to the service.
func (p Profile) CheckPath(path string) error {
	good := p.EndsWell(path)
	for segment := range strings.SplitSeq(path, "/") {
		good = good && p.AllowsSegment(segment)
	}
	switch {
	case path == "":
		return errorf(CodeArgument, "", "The name of the entity is empty.")
	case len(path) > MaxPath:
		return tooLong(path, MaxPath)
	case !good:
		return errorf(CodeArgument, "", "'%.64s%s", path, segmentCharacters)
	}
	return nil
}

// CheckSubscription reports what is wrong with the name of a new subscription, or nil (QUO-9). That of one of JMS
// clients has two $ and may be longer (JMS-9).
func (p Profile) CheckSubscription(name string) error {
	plain, client := ClientAffineOf(name)
	switch {
	case client != nil:
		return client.checkNames(plain)
	case len(name) > MaxName:
		return tooLong(name, MaxName)
	case !p.AllowsSegment(name) || !p.EndsWell(name):
		return errorf(CodeArgument, "", "'%.64s%s", name, segmentCharacters)
	}
	return nil
}

// checkNames reports what is wrong with the name and the client id that JMS clients give a subscription, or nil. Both
// become part of a path. Names of classes have a $, and names of hosts that clients use as ids a colon.
func (c *ClientAffine) checkNames(name string) error {
	const allowed = "letters, digits and . - _ ~ : @"
	if full := c.subscriptionName(name); len(full) > MaxPath {
		return tooLong(full, MaxPath)
	}
	takes := func(more string) func(rune) bool {
		return func(c rune) bool { return c > '~' || !alphanumeric(byte(c)) && !strings.ContainsRune(more, c) }
	}
	switch {
	case name == "":
		return errorf(CodeArgument, "", "A subscription that JMS clients share or keep needs a name.")
	case strings.ContainsFunc(name, takes(".-_~:@$")):
		return errorf(CodeArgument, "", "The subscription name '%.64s' can't be part of a path: it may have %s $. "+
			"Choose another name.", name, allowed)
	case strings.ContainsFunc(c.ClientID, takes(".-_~:@")):
		return errorf(CodeArgument, "", "The client id '%.64s' can't be part of a path: it may have %s. Choose "+
			"another id.", c.ClientID, allowed)
	}
	return nil
}

// tooLong says that a path or a name has more than the allowed number of characters.
func tooLong(name string, most int) error {
	return errorf(CodeArgument, "", "The entity path/name '%.64s' exceeds the '%d' character limit.", name, most)
}

// CheckRuleName reports what is wrong with the name of a new rule, or nil (QUO-9). It is asked by every front end,
// for one of them could neither show nor remove a rule of another name.
func (p Profile) CheckRuleName(name string) error {
	switch {
	case strings.EqualFold(name, DefaultRuleName):
		return nil
	case len(name) > MaxName:
		return tooLong(name, MaxName)
	case !p.AllowsSegment(name) || !p.EndsWell(name):
		return errorf(CodeArgument, "", "RuleName '%.64s%s", name, segmentCharacters)
	}
	return nil
}

// AllowsSegment reports whether a segment of a name has only characters that the service takes, and the relaxed
// profile (DEC-9).
func (p Profile) AllowsSegment(segment string) bool {
	if segment == "" || segment == "." || segment == ".." {
		return false
	}
	for i := range len(segment) {
		if c := segment[i]; !alphanumeric(c) && c != '.' && c != '-' && c != '_' &&
			(c != '~' || !profiles[p].LooseNames) {
			return false
		}
	}
	return true
}

// EndsWell reports whether a name begins and ends as the profile has it (DEC-9).
func (p Profile) EndsWell(name string) bool {
	if name == "" {
		return false
	}
	limits, last := &profiles[p], name[len(name)-1]
	loose := func(c byte) bool { return alphanumeric(c) || limits.LooseNames && (c == '_' || c == '~') }
	return loose(name[0]) && (loose(last) || last == '-' && limits.EndingHyphens)
}

func alphanumeric(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' }
