package exchange

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/go-amqp"

	"minibus/compat-tests/harness"
)

// sdk is the Go side.
type sdk struct {
	t      *testing.T
	client *azservicebus.Client
}

func newSDK(t *testing.T, server *harness.Server) sdk {
	t.Helper()
	client, err := azservicebus.NewClientFromConnectionString(server.ConnectionString(), nil)
	if err != nil {
		t.Fatalf("create client: %v", err)
	}
	t.Cleanup(func() { client.Close(context.Background()) })
	return sdk{t, client}
}

func (s sdk) must(what string, err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatalf("%s: %v", what, err)
	}
}

func (s sdk) send(samples []sample, topic string) {
	s.t.Helper()
	sender, err := s.client.NewSender(topic, nil)
	s.must("create sender", err)
	for _, one := range samples {
		if annotated := annotatedOf(one); annotated != nil {
			err = sender.SendAMQPAnnotatedMessage(context.Background(), annotated, nil)
		} else {
			err = sender.SendMessage(context.Background(), messageOf(one), nil)
		}
		s.must("send", err)
	}
}

func (s sdk) receive(counts map[string]int) map[string][]sample {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	all := make(map[string][]sample)
	for topic, count := range counts {
		receiver, err := s.client.NewReceiverForSubscription(topic, "go", &azservicebus.ReceiverOptions{ReceiveMode: azservicebus.ReceiveModeReceiveAndDelete})
		s.must("create receiver", err)
		for len(all[topic]) < count {
			messages, err := receiver.ReceiveMessages(ctx, count-len(all[topic]), nil)
			s.must("receive", err)
			for _, m := range messages {
				all[topic] = append(all[topic], s.canonical(m))
			}
		}
	}
	return all
}

func textOf(properties map[string]any, key string) *string {
	if text, ok := properties[key].(string); ok {
		return &text
	}
	return nil
}

func messageOf(one sample) *azservicebus.Message {
	id := one["id"].(string)
	p, _ := one["properties"].(map[string]any)
	app, _ := one["app"].(map[string]any)
	return &azservicebus.Message{
		MessageID: &id, CorrelationID: textOf(p, "correlationId"), Subject: textOf(p, "subject"), ContentType: textOf(p, "contentType"),
		To: textOf(p, "to"), ReplyTo: textOf(p, "replyTo"), ReplyToSessionID: textOf(p, "replyToSessionId"),
		SessionID: textOf(p, "sessionId"), PartitionKey: textOf(p, "partitionKey"), ApplicationProperties: natives(app),
		Body: dataOf(one)[0],
	}
}

func dataOf(one sample) [][]byte {
	var sections [][]byte
	for _, section := range one.part("body").(map[string]any)["data"].([]any) {
		data, _ := base64.StdEncoding.DecodeString(section.(string))
		sections = append(sections, data)
	}
	return sections
}

// annotatedOf is a message that only the SDK's other kind of message can be; nil for the others.
func annotatedOf(one sample) *azservicebus.AMQPAnnotatedMessage {
	m := &azservicebus.AMQPAnnotatedMessage{Properties: &azservicebus.AMQPAnnotatedMessageProperties{MessageID: one["id"]}}
	body := one.part("body").(map[string]any)
	header, hasHeader := one["header"].(map[string]any)
	annotations, hasAnnotations := one["annotations"].(map[string]any)
	footer, hasFooter := one["footer"].(map[string]any)
	switch {
	case body["value"] != nil:
		m.Body.Value = native(body["value"])
	case body["sequence"] != nil:
		for _, section := range body["sequence"].([]any) {
			m.Body.Sequence = append(m.Body.Sequence, native(map[string]any{"list": section}).([]any))
		}
	default:
		if m.Body.Data = dataOf(one); len(m.Body.Data) == 1 && !hasHeader && !hasAnnotations && !hasFooter {
			return nil
		}
	}
	if hasHeader {
		m.Header = &azservicebus.AMQPAnnotatedMessageHeader{Durable: header["durable"].(bool), Priority: uint8(header["priority"].(float64))}
	}
	if hasAnnotations {
		m.MessageAnnotations = make(map[any]any)
		for key, value := range natives(annotations) {
			m.MessageAnnotations[key] = value
		}
	}
	if hasFooter {
		m.Footer = make(map[any]any)
		for key, value := range natives(footer) {
			m.Footer[key] = value
		}
	}
	return m
}

func natives(values map[string]any) map[string]any {
	if values == nil {
		return nil
	}
	all := make(map[string]any)
	for key, value := range values {
		all[key] = native(value)
	}
	return all
}

// native is a value of the samples, as a program of this SDK has it.
func native(value any) any {
	for kind, v := range value.(map[string]any) {
		switch kind {
		case "null":
			return nil
		case "int":
			if n := v.(float64); math.Abs(n) > math.MaxInt32 {
				return int64(n)
			}
			return int32(v.(float64))
		case "time":
			return time.UnixMilli(int64(v.(float64))).UTC()
		case "binary":
			data, _ := base64.StdEncoding.DecodeString(v.(string))
			return data
		case "uuid":
			id, _ := hex.DecodeString(strings.ReplaceAll(v.(string), "-", ""))
			return amqp.UUID(id)
		case "list":
			list := []any{}
			for _, item := range v.([]any) {
				list = append(list, native(item))
			}
			return list
		case "map":
			return natives(v.(map[string]any))
		default:
			return v
		}
	}
	return nil
}

// shown returns a value that the SDK shows in the form of the samples.
func shown(value any) any {
	switch v := value.(type) {
	case nil:
		return map[string]any{"null": true}
	case string:
		return map[string]any{"string": v}
	case bool:
		return map[string]any{"bool": v}
	case float32, float64:
		return map[string]any{"double": v}
	case time.Time:
		return map[string]any{"time": v.UnixMilli()}
	case []byte:
		return map[string]any{"binary": base64.StdEncoding.EncodeToString(v)}
	case amqp.UUID:
		return map[string]any{"uuid": v.String()}
	case []any:
		list := []any{}
		for _, item := range v {
			list = append(list, shown(item))
		}
		return map[string]any{"list": list}
	case map[string]any:
		return map[string]any{"map": showns(v)}
	default:
		return map[string]any{"int": v}
	}
}

func showns[K comparable](values map[K]any) map[string]any {
	all := map[string]any{}
	for key, value := range values {
		all[fmt.Sprint(key)] = shown(value)
	}
	return all
}

// canonical is a message in the form of the samples, with the types that JSON has.
func (s sdk) canonical(m *azservicebus.ReceivedMessage) sample {
	raw := m.RawAMQPMessage
	properties := map[string]any{}
	for key, value := range map[string]*string{
		"correlationId": m.CorrelationID, "subject": m.Subject, "contentType": m.ContentType, "to": m.To, "replyTo": m.ReplyTo,
		"replyToSessionId": m.ReplyToSessionID, "sessionId": m.SessionID, "partitionKey": m.PartitionKey,
	} {
		if value != nil {
			properties[key] = *value
		}
	}
	body := map[string]any{}
	switch {
	case raw.Body.Value != nil:
		body["value"] = shown(raw.Body.Value)
	case raw.Body.Sequence != nil:
		var sections []any
		for _, section := range raw.Body.Sequence {
			sections = append(sections, shown(section).(map[string]any)["list"])
		}
		body["sequence"] = sections
	default:
		body["data"] = raw.Body.Data
	}
	text, err := json.Marshal(sample{"id": m.MessageID, "properties": properties, "app": showns(m.ApplicationProperties), "body": body,
		"header": map[string]any{"durable": raw.Header.Durable, "priority": raw.Header.Priority}, "annotations": showns(raw.MessageAnnotations),
		"footer": showns(raw.Footer)})
	s.must("encode", err)
	return parseLines(s.t, text)[0]
}

// versionOf is the version of an SDK, where its suite pins it.
func versionOf(t *testing.T, column string) string {
	t.Helper()
	pinned := map[string]struct{ file, pattern string }{
		"go":     {"../../go.mod", `sdk/messaging/azservicebus (\S+)`},
		"js":     {"../js/node_modules/@azure/service-bus/package.json", `"version": "([^"]+)"`},
		"python": {"../python/requirements.txt", `(?m)^azure-servicebus==(\S+)`},
		"java":   {"../java/pom.xml", `<servicebus.version>([^<]+)`},
	}[column]
	text, err := os.ReadFile(pinned.file)
	if err != nil {
		t.Fatalf("read the version of %s: %v", column, err)
	}
	found := regexp.MustCompile(pinned.pattern).FindSubmatch(text)
	if found == nil {
		t.Fatalf("no version of %s in %s", column, pinned.file)
	}
	return string(found[1])
}
