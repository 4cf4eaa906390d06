package emulator

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"minibus/internal/amqp/message"
)

// messageIDs makes the ids of messages whose senders gave none (PROP-10).
type messageIDs struct {
	block cipher.Block
	first int64 // id of a row of the namespace, before a snapshot was restored
}

func newMessageIDs(secret [16]byte) (messageIDs, error) {
	block, err := aes.NewCipher(secret[:])
	if err != nil {
		return messageIDs{}, fmt.Errorf("prepare message ids: %w", err)
	}
	return messageIDs{block: block}, nil
}

// of returns the message's id, 32 hexadecimal digits. It follows from the body's id, so that it needs no room and is the same
// for all copies of the message. The number of the rows does not count, so that it is the same after a restore.
func (ids messageIDs) of(body int64) string {
	var b [16]byte
	first, _ := RowsOf(NamespaceOf(body))
	body += ids.first - first
	binary.BigEndian.PutUint64(b[:], uint64(body))
	ids.block.Encrypt(b[:], b[:])
	return hex.EncodeToString(b[:])
}

// describe adds to the record what only people and duplicate detection read.
func (ids messageIDs) describe(r *MessageRecord, info *message.Info) {
	r.HasSession, r.SessionID = info.HasGroupID, info.GroupID
	r.MessageID = info.MessageID
	if !info.HasMessageID {
		r.MessageID = ids.of(r.Body)
	}
}
