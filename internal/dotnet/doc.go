// Package dotnet counts time as .NET does, and so the service: in ticks of 100 nanoseconds, instants from the first day of the year 1.
//
// The rule language, the documents of the administration, messages over HTTP and session locks show such numbers. The package has pure
// functions only.
package dotnet
