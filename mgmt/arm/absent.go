package arm

import (
	"net/http"
	"strings"
)

// What Minibus does not have, and clients list: nothing is there, and nothing can be made.

func init() {
	for _, name := range []string{
		"privateEndpointConnections", "privateLinkResources", "networkSecurityPerimeterConfigurations",
		"migrationConfigurations", "disasterRecoveryConfigs",
	} {
		register(kind{
			name: serviceBus + "/namespaces/" + name, list: (*Manager).listNothing,
			methods: map[string]operation{
				http.MethodGet: (*Manager).getNothing, http.MethodHead: (*Manager).getNothing,
				http.MethodPut: (*Manager).refuse, http.MethodDelete: (*Manager).deleteNothing,
				http.MethodPost: (*Manager).postNothing,
			},
			actions: map[string]operation{
				"failover": (*Manager).refuse, "breakpairing": (*Manager).refuse, "upgrade": (*Manager).refuse,
				"revert": (*Manager).refuse,
			},
		})
	}
	for _, name := range []string{
		serviceBus + "/operations", serviceBus + "/premiumMessagingRegions", own + "/subscriptions/tagNames",
	} {
		register(kind{name: name, list: (*Manager).listNothing})
	}
}

// inNamespace fails unless the namespace exists in which an id names something; other ids name none.
func (m *Manager) inNamespace(id ID) error {
	if len(id.Names) == 0 || id.Provider == "" {
		return nil
	}
	_, err := m.find(id)
	return err
}

func (m *Manager) listNothing(c *call) (answer, error) {
	if err := m.inNamespace(c.id); err != nil {
		return answer{}, err
	}
	return list(c, 0, nil)
}

func (m *Manager) getNothing(c *call) (answer, error) {
	if err := m.inNamespace(c.id); err != nil {
		return answer{}, err
	}
	return answer{}, entityNotFound(c.id)
}

func (m *Manager) deleteNothing(c *call) (answer, error) {
	if err := m.inNamespace(c.id); err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusNoContent}, nil
}

func (m *Manager) refuse(c *call) (answer, error) {
	if err := m.inNamespace(c.id); err != nil {
		return answer{}, err
	}
	return answer{}, unsupported(c.id, "Minibus has no %s.", c.id.Types[1])
}

// postNothing answers the one question that comes by POST to such a path: whether an alias is free.
func (m *Manager) postNothing(c *call) (answer, error) {
	if !strings.EqualFold(c.id.Name(), "checkNameAvailability") {
		return answer{}, allowed(nil, c)
	}
	if err := m.inNamespace(c.id); err != nil {
		return answer{}, err
	}
	return m.checkName(c)
}
