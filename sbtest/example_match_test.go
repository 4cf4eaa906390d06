package sbtest_test

import (
	"fmt"

	"minibus/sbtest"
)

// Which subscriptions get a small order, and why not the others?
func ExampleNamespace_Match() {
	bus := sbtest.Start(t, sbtest.Topic{Name: "orders", Subscriptions: []sbtest.Subscription{
		{Name: "audit"},
		{Name: "large", Rules: []sbtest.Rule{{Name: "large", SQL: "amount > 1000", Action: "SET priority = 'high'"}}},
	}})
	seven := sbtest.Message{ApplicationProperties: map[string]any{"amount": 7}}
	for _, s := range bus.Match(t, "orders", seven).Subscriptions {
		fmt.Println(s.Name, s.Reached(), s.Rules[0].Reasons)
	}
	// Would another filter do?
	fmt.Println(bus.Match(t, "orders/Subscriptions/large", seven, sbtest.Rule{Name: "try", SQL: "amount > 5"}))
	// Output:
	// audit true [1 = 1 is true]
	// large false [amount > 1000 is false: amount is 7]
	// a message for orders
	//   large: reached
	//     a copy by rule 'try'
	//     rule 'try' is true
	//       amount > 5 is true: amount is 7
}
