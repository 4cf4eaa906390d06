package atom

import (
	"net/url"
	"strings"
)

// forwardPath returns the path of the entity that a ForwardTo names, and the text as the service returns it. Clients
// send URIs with all schemes and ports; only the path counts, and scheme and host come back in lower case. A text
// without scheme is a path and comes back unchanged.
func forwardPath(text string) (path, shown string) {
	text = strings.TrimSpace(text)
	scheme, host, after := splitForward(text)
	if scheme == "" {
		return strings.Trim(text, "/"), text
	}
	path = after
	if i := strings.IndexAny(path, "?#"); i >= 0 {
		path = path[:i]
	}
	if p, err := url.PathUnescape(path); err == nil {
		path = p
	}
	return strings.Trim(path, "/"), strings.ToLower(scheme) + "://" + strings.ToLower(host) + after
}

// splitForward splits the URI of a target before and after its host. A text that is none has no scheme.
func splitForward(text string) (scheme, host, after string) {
	scheme, rest, isURI := strings.Cut(text, "://")
	if !isURI || scheme == "" || strings.ContainsAny(scheme, "/?#") {
		return "", "", text
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		return scheme, rest[:i], rest[i:]
	}
	return scheme, rest, ""
}

// shownForward returns the text of a forwarding target: the client's if it still names the target, else the path.
func shownForward(target, text string) string {
	if path, shown := forwardPath(text); target != "" && strings.EqualFold(path, target) {
		return shown
	}
	return target
}

// behindForwardTo has the elements that follow ForwardTo in descriptions of all kinds. A ForwardTo behind one of them
// is out of place (management-rest 3.4). UserMetadata and CreatedAt are not among them: clients put them before and
// after.
var behindForwardTo = map[string]bool{
	"SupportOrdering": true, "CountDetails": true, "AutoDeleteOnIdle": true, "EnablePartitioning": true,
	"EntityAvailabilityStatus": true, "ForwardDeadLetteredMessagesTo": true, "EnableExpress": true,
	"MaxMessageSizeInKilobytes": true, "IsClientAffine": true,
	"ClientAffineProperties": true,
}

// forwardInPlace reports whether ForwardTo stands before all elements that follow it in the canonical order.
func forwardInPlace(d *Element) bool {
	for _, c := range d.Children[:max(d.index("ForwardTo"), 0)] {
		if behindForwardTo[c.Name] {
			return false
		}
	}
	return true
}
