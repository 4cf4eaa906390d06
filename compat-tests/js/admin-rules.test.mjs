// Rules with the JavaScript administration client. See admin.mjs.
import assert from "node:assert/strict";
import { before } from "node:test";
import { absent, admin, collect, exists, invalid, missing, namespace, ServiceBusClient } from "./admin.mjs";
import { proves, test } from "./proves.mjs";

const at = ["rules.topic", "s"];
const noAction = { sqlExpression: undefined, sqlParameters: undefined };
const correlation = {
  correlationId: undefined, subject: undefined, to: undefined, replyTo: undefined, replyToSessionId: undefined, sessionId: undefined,
  messageId: undefined, contentType: undefined, applicationProperties: undefined,
};
const everyType = { text: "a < b & c", digits: "007", whole: 25, wholeAsDouble: 3.0, double: 12.4, negative: -7, yes: true, no: false, when: new Date("2026-07-05T11:12:13.456Z") };

before(async () => {
  await admin.createTopic(at[0]);
  await admin.createSubscription(...at);
});

// Creates a rule, reads it back in every way and returns what it is.
async function created(name, filter, action) {
  const rule = await admin.createRule(...at, name, filter, action);
  assert.equal(rule._response.status, 201);
  assert.deepEqual(await admin.getRule(...at, name), rule);
  assert.deepEqual((await collect(admin.listRules(...at))).find((r) => r.name === name), rule);
  return rule;
}

test("the rule that every subscription begins with", proves("admin.ruledefault"), async () => {
  assert.deepEqual(await admin.getRule(...at, "$Default"), {
    name: "$Default", filter: { sqlExpression: "1=1", sqlParameters: undefined }, action: noAction,
  });
});

test("SQL filters with parameters of every type, and actions", proves("admin.rulesql", "admin.ruleaction"), async () => {
  const sqlParameters = Object.fromEntries(Object.entries(everyType).map(([key, value]) => [`@${key}`, value]));
  const filter = { sqlExpression: "text = @text AND whole = @whole OR \"when\" > @when", sqlParameters };
  const action = { sqlExpression: "SET a = @text; REMOVE b", sqlParameters: { "@text": "t" } };
  assert.deepEqual(await created("sql", filter, action), { name: "sql", filter, action });
});

test("one parameter, or none, and an action without", async () => {
  const filter = { sqlExpression: "a = @a", sqlParameters: { "@a": 1 } };
  assert.deepEqual(await created("one", filter), { name: "one", filter, action: noAction });
  assert.deepEqual(await created("none", { sqlExpression: "a = 1" }, { sqlExpression: "SET a = 'b'" }), {
    name: "none", filter: { sqlExpression: "a = 1", sqlParameters: undefined }, action: { sqlExpression: "SET a = 'b'", sqlParameters: undefined },
  });
});

test("true and false are SQL for this SDK", async () => {
  for (const sqlExpression of ["1=1", "1=0"]) {
    const { filter } = await created(`is ${sqlExpression}`.replace(/\W/g, "."), { sqlExpression });
    assert.deepEqual(filter, { sqlExpression, sqlParameters: undefined });
  }
});

test("correlation filters", proves("admin.rulecorrelation"), async () => {
  const set = { correlationId: "c", subject: "l", to: "t", replyTo: "r", replyToSessionId: "rs", sessionId: "s", messageId: "m", contentType: "ct" };
  const action = { sqlExpression: "SET sys.label='GREEN'", sqlParameters: undefined };
  const all = await created("correlation", { ...set, applicationProperties: everyType }, action);
  assert.deepEqual(all, { name: "correlation", filter: { ...set, applicationProperties: everyType }, action });
  for (const [name, filter] of Object.entries({ property: { applicationProperties: { only: "WA" } }, label: { subject: "only" } })) {
    assert.deepEqual(await created(name, filter), { name, filter: { ...correlation, ...filter }, action: noAction });
  }
});

test("a subscription may begin with another rule", proves("admin.subrule"), async () => {
  const rule = { name: "first", filter: { sqlExpression: "a = @a", sqlParameters: { "@a": 1 } }, action: { sqlExpression: "SET a='b'", sqlParameters: undefined } };
  await admin.createSubscription(at[0], "own", { defaultRuleOptions: rule });
  assert.deepEqual(await collect(admin.listRules(at[0], "own")), [rule]);
  await admin.createSubscription(at[0], "own.correlation", { defaultRuleOptions: { name: "first", filter: { subject: "x" } } });
  assert.deepEqual(await collect(admin.listRules(at[0], "own.correlation")), [{ name: "first", filter: { ...correlation, subject: "x" }, action: noAction }]);
});

test("update changes filter, kind and action, and selects", proves("admin.rule"), async () => {
  await admin.createSubscription(at[0], "updated");
  const rule = await admin.getRule(at[0], "updated", "$Default");
  const action = { sqlExpression: "SET sys.label = 'RED'; SET n = n + @more", sqlParameters: { "@more": 1 } };
  const changed = await admin.updateRule(at[0], "updated", { ...rule, filter: { subject: "blue", applicationProperties: { n: 2 } }, action });
  assert.equal(changed._response.status, 200);
  assert.deepEqual(changed, { name: "$Default", filter: { ...correlation, subject: "blue", applicationProperties: { n: 2 } }, action });
  assert.deepEqual(await admin.getRule(at[0], "updated", "$Default"), changed);
  const client = new ServiceBusClient(process.env.MINIBUS_CONNECTION_STRING);
  try {
    await client.createSender(at[0]).sendMessages([
      { body: 1, subject: "blue", applicationProperties: { n: 1 } },
      { body: 2, subject: "blue", applicationProperties: { n: 2 } },
      { body: 3, subject: "green", applicationProperties: { n: 2 } },
    ]);
    const receiver = client.createReceiver(at[0], "updated", { receiveMode: "receiveAndDelete" });
    const [m] = await receiver.receiveMessages(1, { maxWaitTimeInMs: 30_000 });
    assert.deepEqual([m.body, m.subject, m.applicationProperties], [2, "RED", { n: 3, RuleName: "$Default" }]);
    assert.equal((await admin.getSubscriptionRuntimeProperties(at[0], "updated")).totalMessageCount, 0);
  } finally {
    await client.close();
  }
});

test("delete, exists, and what is missing", async () => {
  await admin.createSubscription(at[0], "deleted");
  const path = [at[0], "deleted"];
  assert.equal(await admin.ruleExists(...path, "$Default"), true);
  assert.equal((await admin.deleteRule(...path, "$Default"))._response.status, 200);
  assert.equal(await admin.ruleExists(...path, "$Default"), false);
  assert.deepEqual(await collect(admin.listRules(...path)), []);
  const gone = new RegExp(`^Entity '${namespace}:Topic:rules\\.topic\\|deleted\\|\\$Default' was not found\\.`);
  await missing(admin.getRule(...path, "$Default"), gone);
  await missing(admin.deleteRule(...path, "$Default"), gone);
  await missing(admin.updateRule(...path, { name: "$Default", filter: { sqlExpression: "1=1" }, action: {} }), gone);
  await missing(admin.getRule(at[0], "never", "r"), /^Entity /);
  await absent(admin.getRule("rules.never", "s", "r"));
});

test("refusals", proves("admin.ruleerrors"), async () => {
  await exists(admin.createRule(...at, "$Default", { sqlExpression: "1=1" }), new RegExp(`^The messaging entity '${namespace}:Topic:rules\\.topic\\|s\\|\\$Default' already exists\\.`));
  await invalid(admin.createRule(...at, "bad", { sqlExpression: "a = = 1" }), /^There was an error parsing the SQL expression\./);
  await invalid(admin.createRule(...at, "bad", { sqlExpression: "1=1" }, { sqlExpression: "SETT a = 1" }), /^There was an error parsing the SQL expression\./);
  await invalid(admin.createRule(...at, "b@d", { sqlExpression: "1=1" }), /^RuleName 'b@d' contains character\(s\) that is not allowed/);
  assert.equal(await admin.ruleExists(...at, "bad"), false);
});
