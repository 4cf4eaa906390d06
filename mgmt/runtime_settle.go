package mgmt

import (
	"net/http"

	"github.com/google/uuid"

	"minibus/emulator"
)

// token reads the lock token at the end of the path. It alone identifies the message, as over AMQP (LOCK-9); the
// number or id in front of it is ignored. An invalid token becomes the zero one, which no lock has.
func (x *runtimeCall) token() []emulator.LockToken {
	id, err := uuid.Parse(x.target.messages[2])
	if err != nil {
		id = uuid.UUID{}
	}
	return []emulator.LockToken{emulator.LockToken(id)}
}

// complete removes a locked message.
func (x *runtimeCall) complete() (*answer, error) { return x.settle(emulator.Complete) }

// unlock abandons a locked message. That counts as a failed delivery (DC-2).
func (x *runtimeCall) unlock() (*answer, error) { return x.settle(emulator.Abandon) }

func (x *runtimeCall) settle(o emulator.Outcome) (*answer, error) {
	if err := x.discardBody(); err != nil {
		return nil, err
	}
	done := newCompletion()
	if err := done.wait(x.entity.Settle(x.token(), emulator.Settlement{Outcome: o},
		emulator.By(x.client(), done))); err != nil {
		return nil, err
	}
	return empty(http.StatusOK), nil
}

// renewLock renews a lock (LOCK-4). The answer does not say when it ends.
func (x *runtimeCall) renewLock() (*answer, error) {
	err := x.discardBody()
	if err == nil {
		_, err = x.entity.Renew(x.token(), x.client())
	}
	if err != nil {
		return nil, err
	}
	return empty(http.StatusOK), nil
}
