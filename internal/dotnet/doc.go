// Package dotnet counts time as .NET and the service do: in ticks of 100 nanoseconds, instants from the first day of
// the year 1.
//
// The rule language, the documents of the administration, messages over HTTP and session locks use such numbers. It
// also writes durations, as .NET and ISO 8601 do, and knows how .NET's client encodes decimals. The package has pure
// functions only.
package dotnet
