// Package messagejson has the one form in which messages stand in JSON: what the control API shows, receives and
// takes, and what the commands write and read.
//
// A [Message] has the sections of an AMQP message as the properties that Service Bus gives them names for. [Of] makes
// it of an encoded message, [Message.Encode] makes an encoded message of it. A value of AMQP has one of many types,
// which [ToJSON] and [FromJSON] keep: strings, booleans and null are themselves, a whole number is a long and one
// with a fraction or an exponent a double. Every other type is an object with one key, its name: {"int":5},
// {"uuid":"..."}.
//
// The package has no goroutines and no state.
package messagejson
