package amqpserver

// Stats is how many connections and links a server has, and has had since it was made.
type Stats struct {
	Connections, ConnectionsTotal int64
	Links, LinksTotal             int64 // without those that were refused
}

// Stats returns the numbers at this moment.
func (s *Server) Stats() Stats {
	return Stats{
		Connections: int64(s.Connections()), ConnectionsTotal: s.lastConn.Load(),
		Links: s.links.Load(), LinksTotal: s.linksTotal.Load(),
	}
}
