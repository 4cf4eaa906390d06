// Package filter is the rule language of subscriptions: SQL filters, SQL actions and correlation filters.
//
// A text goes through a lexer and a parser into a syntax tree, and the tree is compiled once, when the rule is
// made, into nodes that evaluate without allocating. Evaluation follows three-valued logic: a filter selects a message
// only when it is [True], not when it is [False] or [Unknown].
//
// Package emulator calls it with a [Message], which reads one property at a time, so that a filter
// on one property decodes one, and a true filter none. A filter cannot read the
// body (TOP-9). An [Index] tells which of many rules can possibly select a message.
//
// Filters, actions and correlation filters are immutable and may be used by many goroutines at once; an Index may not.
// The package owns no goroutine and keeps no state. It never sees a socket, a clock or an encoded message, and it never
// decides what happens to a message: that is up to the emulator (TOP-5, TOP-10).
//
// Where the language leaves something open, one place decides:
//
//   - operands whose types do not fit are Unknown in a comparison ([Compare]) and an error in arithmetic (arith.go);
//   - numbers compare by value: integers and decimals exactly, integers with floating point as doubles (compare.go);
//   - SET converts to the type that the property already has (convert.go);
//   - a bare boolean value is not a predicate: write IsActive = TRUE (parse.go).
package filter
