package cli

import (
	"context"
	"fmt"
)

// tooLarge says what an entity takes at most, and how to raise that. It asks for the settings of the entity, which takes a key with the right to
// Manage; without one it says less.
func (a *app) tooLarge(ctx context.Context, entity string) error {
	kind, limit := "queue", int64(0)
	if client, err := a.entities(); err == nil {
		if q, err := client.GetQueue(ctx, entity, nil); err == nil && q != nil && q.MaxMessageSizeInKilobytes != nil {
			limit = *q.MaxMessageSizeInKilobytes
		} else if t, err := client.GetTopic(ctx, entity, nil); err == nil && t != nil && t.MaxMessageSizeInKilobytes != nil {
			kind, limit = "topic", *t.MaxMessageSizeInKilobytes
		}
	}
	takes := "than " + entity + " takes"
	if limit > 0 {
		takes = fmt.Sprintf("than the %d KiB that the %s %s takes, with its properties", limit, kind, entity)
	}
	return failed(exitFailed, "the message is larger %s; to raise the limit: minibus %s update %s --max-message-size-in-kilobytes KILOBYTES, of Azure in the Premium tier only", takes, kind, entity)
}
