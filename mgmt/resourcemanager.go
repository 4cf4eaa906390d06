package mgmt

import (
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strings"
)

// managerVersion matches an api-version of Azure Resource Manager. The administration's versions have no day.
var managerVersion = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}(-[a-z]+)?$`)

// isResourceManager reports whether a request comes from a client of Azure Resource Manager, which manages entities
// too, under other paths and in JSON.
func isResourceManager(r *http.Request) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch strings.ToLower(first) {
	case "subscriptions", "providers", "tenants", "metadata":
		return managerVersion.MatchString(r.URL.Query().Get("api-version"))
	}
	return false
}

// refuseResourceManager answers in that API's format: with 404 if err says that the request means no namespace, else
// with 400 because none of its clients retries that.
func refuseResourceManager(w http.ResponseWriter, err error) {
	type detail struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	status, refusal := http.StatusBadRequest, detail{"MessagingGatewayBadRequest",
		"Minibus does not serve Azure Resource Manager. Declare entities in Config.json, or make them with a client " +
			"of the Service Bus administration API, such as ServiceBusAdministrationClient."}
	if err != nil && !errors.Is(err, errNotReady) { // the request means no namespace
		status, refusal = http.StatusNotFound, detail{"ResourceNotFound", withoutSubCode(err.Error())}
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]detail{"error": refusal}) // the client is gone if this fails
}
