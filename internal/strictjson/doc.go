// Package strictjson reads JSON of which nothing gets lost: encoding/json takes the last of two members of one name,
// takes a name in another case, and replaces bytes that are no UTF-8. It says what is wrong without the names of Go's
// types. It is a pure function of those who read what others wrote, messagejson and mgmt/control, and has no
// goroutines.
package strictjson
