// Makes a namespace, looks at its entities, and deletes it: SERVICEBUS_CONNECTION_STRING=... node example.mjs
import assert from "node:assert/strict";
import { connect } from "minibus-control";

const client = connect(process.env["SERVICEBUS_CONNECTION_STRING"]!);
const namespace = "worker-1";

const made = await client.POST("/$minibus/v1/namespaces", {
  body: { name: namespace, Queues: [{ Name: "jobs" }], Topics: [{ Name: "events", Subscriptions: [{ Name: "large" }] }] },
});
assert.match(made.data?.connectionString ?? "", /^Endpoint=sb:/, made.error?.detail);

const entities = await client.GET("/$minibus/v1/namespaces/{namespace}/entities", { params: { path: { namespace }, query: { kind: "subscription" } } });
assert.deepEqual(entities.data?.items.map((e) => e.path), ["events/Subscriptions/large"]);
const large = await client.GET("/$minibus/v1/namespaces/{namespace}/entities/{entity}", {
  params: { path: { namespace, entity: "events/Subscriptions/large" } },
});
assert.equal(large.data?.counts.active, 0);

const gone = await client.DELETE("/$minibus/v1/namespaces/{namespace}", { params: { path: { namespace } } });
assert.equal(gone.response.status, 204);
const missing = await client.GET("/$minibus/v1/namespaces/{namespace}", { params: { path: { namespace } } });
assert.match(missing.error?.detail ?? "", /could not be found/);
