package amqpserver

import (
	"fmt"
	"strings"

	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
	"minibus/internal/entitypath"
	"minibus/internal/sas"
)

// apacheFilters is the upper half of the descriptors of Apache's filters.
const apacheFilters = 0x468C

// noDynamic answers a client that asks for a dynamic node.
const noDynamic = "There are no dynamic nodes for a %s to be. Create a queue, with AutoDeleteOnIdle if it is for a while only, and name its address."

// checkSource refuses sources that we can't serve. Leaving a filter out of the answer says that it is not in effect
// [AMQP 3.5.3], but few clients look, and a client that asked for some messages would take all of them.
func checkSource(a *frames.Attach) error {
	source := a.Source
	switch {
	case source == nil || !source.Dynamic && source.Address == "":
		return linkErrorf(amqp.CondNotImplemented, "The attach has no source. Name the address of a queue or subscription as the source of a receiver.")
	case source.Dynamic:
		return linkErrorf(amqp.CondNotImplemented, noDynamic, "source")
	case source.DistributionMode == "copy":
		return linkErrorf(amqp.CondNotImplemented, "The distribution mode 'copy' is not served: a link can't browse. Peek by requests to '%s'.",
			entitypath.Management(parseAddress(source.Address).String()))
	}
	for _, f := range source.Filter {
		name, _ := amqp.AsString(f.Key)
		if name == keySessionFilter || f.Value == nil { // a null value means no such key [AMQP 3.5.8]
			continue
		}
		if isSelector(f.Value) {
			return linkErrorf(amqp.CondNotImplemented, "The source's filter %s is not supported. To receive some of the messages only, "+
				"give a subscription a rule that selects them and receive from it.", filterName(name, f.Value))
		}
		// No quotation mark may come behind the link's name: .NET's client reads the rest.
		return linkErrorf(amqp.CondNotAllowed, "The link '%s' contains invalid filter type. System only support Jms or Apache selector filter type. "+
			"Found %s; receivers of Minibus can have the filter %s only.", sas.Clip(a.LinkName), filterName(name, f.Value), keySessionFilter)
	}
	return nil
}

// isSelector reports whether a filter is one of Apache's, which the service has for JMS.
func isSelector(value any) bool {
	described, _ := value.(amqp.Described)
	if code, ok := described.Descriptor.(uint64); ok {
		return code>>32 == apacheFilters
	}
	symbol, _ := amqp.AsString(described.Descriptor)
	return strings.HasPrefix(symbol, "apache.org:")
}

// filterName names a filter by its key and, if it has one, its type.
func filterName(key string, value any) string {
	name := sas.Clip(key)
	described, ok := value.(amqp.Described)
	if !ok {
		return name
	}
	if symbol, ok := amqp.AsString(described.Descriptor); ok {
		return fmt.Sprintf("%s (%s)", name, sas.Clip(symbol))
	}
	if code, ok := described.Descriptor.(uint64); ok {
		return fmt.Sprintf("%s (%#016x)", name, code)
	}
	return name
}
