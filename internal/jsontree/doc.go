// Package jsontree reads JSON into values that know their place in the text, for messages: with comments, trailing
// commas and the encodings that people's files have. Config files and templates of the Resource Manager are such
// texts; packages config and internal/template use it. It has no goroutine and keeps nothing.
package jsontree
