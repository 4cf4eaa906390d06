package amqpserver

// Stats counts a server's connections and links: those open now, and all since the server was made.
type Stats struct {
	Connections, ConnectionsTotal int64
	Links, LinksTotal             int64 // without those that were refused
}

// Stats returns the current numbers.
func (s *Server) Stats() Stats {
	return Stats{
		Connections: int64(s.Connections()), ConnectionsTotal: s.lastConn.Load(),
		Links: s.links.Load(), LinksTotal: s.linksTotal.Load(),
	}
}
