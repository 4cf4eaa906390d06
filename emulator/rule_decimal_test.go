package emulator_test

import (
	"encoding/hex"
	"testing"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
)

// dotnetDecimal is a decimal as Azure.Messaging.ServiceBus 7.21.0 writes it: shift is the second byte, 0x3e one place.
func dotnetDecimal(sign, shift byte, units uint16) amqp.Decimal128 {
	return amqp.Decimal128{sign | 0x0c, shift, 14: byte(units >> 8), 15: byte(units)}
}

var (
	price    = dotnetDecimal(0, 0x3e, 125)                  // 12.5m
	standard = amqp.Decimal128{0x30, 0x3c, 14: 4, 15: 0xe2} // 12.50 of IEEE 754
)

func TestTOP9_DecimalsAreCompared(t *testing.T) {
	is := func(x any) emulator.RuleOptions {
		return emulator.RuleOptions{Name: "r", Correlation: &emulator.CorrelationFilter{Properties: emulator.Values{"price": x}}}
	}
	for name, c := range map[string]struct {
		rule emulator.RuleOptions
		sent amqp.Decimal128
		want bool
	}{
		"equal":               {is(price), price, true},
		"equal, more places":  {is(price), dotnetDecimal(0, 0x3c, 1250), true},
		"equal, IEEE":         {is(price), standard, true},
		"equal to IEEE":       {is(standard), price, true},
		"another":             {is(price), dotnetDecimal(0, 0x3e, 124), false},
		"another sign":        {is(price), dotnetDecimal(0x80, 0x3e, 125), false},
		"equal to a double":   {is(12.5), price, true},
		"no text":             {is("12.5"), price, false},
		"greater":             {sql("r", "price > 20 AND price < 30"), dotnetDecimal(0, 0x3c, 2001), true},
		"not greater":         {sql("r", "price > 20 AND price < 30"), dotnetDecimal(0, 0x40, 20), false},
		"negative":            {sql("r", "price + 30 = 5"), dotnetDecimal(0x80, 0x40, 25), true},
		"against a parameter": {emulator.RuleOptions{Name: "r", SQL: "price = @p", Parameters: emulator.Values{"p": price}}, standard, true},
	} {
		t.Run(name, func(t *testing.T) {
			topicBubble(t, emulator.TopicOptions{}, []emulator.SubscriptionOptions{withRules("s", c.rule)}, func(b *broker) {
				for range 2 {
					b.sendProperty("price", c.sent)
					equal(t, "selected", len(b.sub("s").drain()) == 1, c.want)
					b = b.again() // with the rule as it was stored
				}
			})
		})
	}
}

func TestTOP6_ActionsKeepAndComputeDecimals(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, []emulator.SubscriptionOptions{
		withRules("s", action("r", "SET copy = price; SET half = price / 2; SET price = price + 1")),
	}, func(b *broker) {
		for _, sent := range []amqp.Decimal128{dotnetDecimal(0x80, 0x3c, 1250), standard} {
			b.sendProperty("price", sent)
			g := b.sub("s").one()
			want := map[string]amqp.Decimal128{"copy": sent, "half": dotnetDecimal(0x80, 0x3c, 625), "price": dotnetDecimal(0x80, 0x3e, 115)}
			if sent == standard { // .NET has to read what the broker computes
				want["half"], want["price"] = dotnetDecimal(0, 0x3c, 625), dotnetDecimal(0, 0x3e, 135)
			}
			for name, w := range want {
				got := g.scalar(name)
				if b := got.Bytes16(); got.Type != message.TypeDecimal128 || b != w {
					t.Errorf("%s of %x is %s, want %x", name, sent, hex.EncodeToString(b[:]), w)
				}
			}
		}
	})
}
