package mgmt

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
)

// managerVersion is an api-version of Azure Resource Manager. Those of the administration have no day.
var managerVersion = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}(-[a-z]+)?$`)

// isResourceManager reports whether a request is one of a client of Azure Resource Manager, which has the namespace's entities too, under
// other paths and in JSON.
func isResourceManager(r *http.Request) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch strings.ToLower(first) {
	case "subscriptions", "providers", "tenants", "metadata":
		return managerVersion.MatchString(r.URL.Query().Get("api-version"))
	}
	return false
}

// refuseResourceManager answers as that API does. 400 is a status that none of its clients tries again.
func refuseResourceManager(w http.ResponseWriter) {
	type detail struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(http.StatusBadRequest)
	_ = json.NewEncoder(w).Encode(map[string]detail{"error": {"MessagingGatewayBadRequest", // the client is gone if this fails
		"Minibus does not serve Azure Resource Manager. Declare entities in Config.json, or make them with a client of the Service Bus " +
			"administration API, such as ServiceBusAdministrationClient."}})
}
