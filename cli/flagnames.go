package cli

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
)

// argumentNames are the flags for arguments of the control API that have another name there.
var argumentNames = map[string]string{
	"sql": "where", "sessionId": "session", "sequenceNumbers": "number", "enqueuedAfter": "after", "enqueuedBefore": "before",
	"delayMilliseconds": "delay", "operations": "operation", "timeoutSeconds": "timeout",
}

// argumentPlace finds an argument of the control API in an error, with the document before it.
var argumentPlace = regexp.MustCompile(`(?:The request is not as \S+ says: )?\b(?:body|query|path)\.([A-Za-z.]*[A-Za-z])(?:\[\d+\])*: `)

// inFlags names flags and arguments of a command where an error of the control API names its own. It leaves what the command has no flag for, and all
// of a document that the user wrote.
func inFlags(c *cobra.Command, text string) string {
	if c == nil || c.Flags().Changed("json") {
		return text
	}
	return argumentPlace.ReplaceAllStringFunc(text, func(place string) string {
		name := argumentPlace.FindStringSubmatch(place)[1]
		if flag := flagFor(c, name[strings.LastIndexByte(name, '.')+1:]); flag != "" {
			return flag + ": "
		}
		return place
	})
}

// flagFor returns the flag or the positional argument of a command that sets an argument of the control API; empty if there is none.
func flagFor(c *cobra.Command, name string) string {
	if slices.Contains(strings.Fields(c.Use), strings.ToUpper(name)) {
		return strings.ToUpper(name)
	}
	for _, flag := range []string{argumentNames[name], hyphened(name)} {
		if flag != "" && c.Flags().Lookup(flag) != nil {
			return "--" + flag
		}
	}
	return ""
}

// hyphened returns a name as flags have it: messageId becomes message-id.
func hyphened(name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
