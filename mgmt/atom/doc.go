// Package atom translates between the ATOM documents of the Service Bus administration API and the settings of
// entities: descriptions of queues, topics, subscriptions and rules, entries and feeds around them, and the error
// document.
//
// Reading is liberal: it finds elements by local name in any order, skips unknown ones and ignores prefixes.
// Writing is strict: clients depend on the order of elements, on prefixes and, where they match on raw text, on which
// characters are escaped. It checks values against a profile of limits; a wrong value is an [Error] with the service's
// text.
//
// Packages mgmt and export call it. It owns no goroutine, keeps no state, and never asks the broker whether an entity
// exists.
package atom

// The XML namespaces of the documents.
const (
	nsAtom       = "http://www.w3.org/2005/Atom"
	nsServiceBus = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"
	nsInstance   = "http://www.w3.org/2001/XMLSchema-instance"
	nsCounts     = "http://schemas.microsoft.com/netservices/2011/06/servicebus"
	nsSchema     = "http://www.w3.org/2001/XMLSchema"
	nsSerialized = "http://schemas.microsoft.com/2003/10/Serialization/"
)

// The content types of answers.
const (
	TypeEntry = "application/atom+xml;type=entry;charset=utf-8"
	TypeFeed  = "application/atom+xml;type=feed;charset=utf-8"
	TypeError = "application/xml; charset=utf-8"
)
