package sbtest

import "minibus/emulator"

// Find returns a namespace of a server by its name.
func Find(s *Server, name string) (*emulator.Namespace, error) {
	return s.server.Broker().Namespace(name)
}

// Clocks returns how many clocks a server has besides its own.
func Clocks(s *Server) int {
	s.clocks.mu.Lock()
	defer s.clocks.mu.Unlock()
	return len(s.clocks.others)
}
