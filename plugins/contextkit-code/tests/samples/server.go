// Package server answers requests.
package server

import "net/http"

// Handler answers one request.
type Handler interface {
	Handle(request *http.Request) error
}

// Server holds the handlers.
type Server struct {
	handlers map[string]Handler
}

// ID names a server.
type ID string

type (
	// Pair joins two ids.
	Pair struct{ left, right ID }
)

// New makes a server.
func New() *Server {
	return &Server{handlers: map[string]Handler{}}
}

// Serve starts the server on an address.
func (s *Server) Serve(address string) error {
	return http.ListenAndServe(address, nil)
}

func (p Pair) Left() ID { return p.left }

// Map applies a function.
func Map[T, U any](items []T, apply func(T) U) []U {
	return nil
}
