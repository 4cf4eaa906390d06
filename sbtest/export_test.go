package sbtest

import "minibus/emulator"

// Find returns a namespace of a server by its name.
func Find(s *Server, name string) (*emulator.Namespace, error) {
	return s.server.Broker().Namespace(name)
}
