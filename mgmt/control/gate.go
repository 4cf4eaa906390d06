package control

import (
	"context"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"minibus/emulator"
	"minibus/mgmt/control/api"
)

// Gate says what the token of a request opens, where tokens are checked: it returns the refusal of what belongs to a
// namespace, or nil. Without a namespace it is about the whole process.
type Gate func(ns *emulator.Namespace) *api.Error

type gateKey struct{}

// Guarded returns a request that gets only what the gate opens.
func Guarded(r *http.Request, g Gate) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), gateKey{}, g))
}

// gateOf returns the gate of a request. Without one all is open.
func gateOf(ctx context.Context) Gate {
	if g, ok := ctx.Value(gateKey{}).(Gate); ok {
		return g
	}
	return func(*emulator.Namespace) *api.Error { return nil }
}

// guard lets requests through that their gate opens. What has no namespace in its path is about the process, except
// the list of namespaces, which has those that are open. To delete a namespace takes both.
func (h *handler) guard(ctx huma.Context, next func(huma.Context)) {
	open, o := gateOf(ctx.Context()), ctx.Operation()
	var refusal *api.Error
	isIn := strings.Contains(o.Path, "{namespace}")
	if isIn {
		in := InNamespace{Namespace: ctx.Param("namespace")}
		_ = in.Resolve(ctx) // never fails
		ns, _ := in.find(h) // without one, only who may see all learns that it is missing
		refusal = open(ns)
	}
	isOfProcess := !isIn && o.OperationID != listNamespaces || o.OperationID == deleteNamespace
	if refusal == nil && isOfProcess {
		refusal = open(nil)
	}
	if refusal != nil {
		_, w := humago.Unwrap(ctx)
		Refuse(w, refusal)
		return
	}
	next(ctx)
}
