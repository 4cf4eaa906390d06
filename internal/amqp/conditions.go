package amqp

// Error conditions of the standard [AMQP 2.8.15 to 2.8.18, 4.5.8] and of the service (amqp-data-plane 9.1).
const (
	CondInternal         Symbol = "amqp:internal-error"
	CondUnauthorized     Symbol = "amqp:unauthorized-access"
	CondDecode           Symbol = "amqp:decode-error"
	CondResourceLimit    Symbol = "amqp:resource-limit-exceeded"
	CondNotAllowed       Symbol = "amqp:not-allowed"
	CondInvalidField     Symbol = "amqp:invalid-field"
	CondNotImplemented   Symbol = "amqp:not-implemented"
	CondIllegalState     Symbol = "amqp:illegal-state"
	CondFrameTooSmall    Symbol = "amqp:frame-size-too-small"
	CondForced           Symbol = "amqp:connection:forced"
	CondFraming          Symbol = "amqp:connection:framing-error"
	CondUnattachedHandle Symbol = "amqp:session:unattached-handle"
	CondHandleInUse      Symbol = "amqp:session:handle-in-use"
	CondErrantLink       Symbol = "amqp:session:errant-link"
	CondDetachForced     Symbol = "amqp:link:detach-forced"
	CondSizeExceeded     Symbol = "amqp:link:message-size-exceeded"
	CondNotFound         Symbol = "amqp:not-found"

	CondUnknownTransaction  Symbol = "amqp:transaction:unknown-id"
	CondTransactionRollback Symbol = "amqp:transaction:rollback"
	CondTransactionTimeout  Symbol = "amqp:transaction:timeout"

	CondMessageLockLost Symbol = "com.microsoft:message-lock-lost"
	CondArgument        Symbol = "com.microsoft:argument-error"
	CondTimeout         Symbol = "com.microsoft:timeout"
	CondServerBusy      Symbol = "com.microsoft:server-busy"
	CondMessageNotFound Symbol = "com.microsoft:message-not-found"
	CondSessionLockLost Symbol = "com.microsoft:session-lock-lost"
	CondSessionLocked   Symbol = "com.microsoft:session-cannot-be-locked"
	CondEntityDisabled  Symbol = "com.microsoft:entity-disabled"
	CondAlreadyExists   Symbol = "com.microsoft:entity-already-exists"
	CondRulesNotFound   Symbol = "com.microsoft:rules-not-found"
)
