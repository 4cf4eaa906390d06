// Lists and their pages with the JavaScript administration client. See admin.mjs.
import assert from "node:assert/strict";
import { before } from "node:test";
import { admin, collect, invalid, recent } from "./admin.mjs";
import { proves, test } from "./proves.mjs";

const count = 5;
const names = Array.from({ length: count }, (_, i) => `lists.${i}`);
const at = ["lists.topic", "lists.0"];
const since = Date.now();

before(async () => {
  await admin.createTopic(at[0]);
  for (const name of names) {
    await admin.createQueue(`${name}.q`);
    await admin.createTopic(name);
    await admin.createSubscription(at[0], name);
    await admin.createRule(...at, name, { sqlExpression: "1=1" });
  }
  await admin.deleteRule(...at, "$Default");
});

// Other tests leave queues and topics of their own; these are after them only if "lists." is.
const mine = (list) => list.map((x) => x.name ?? x.subscriptionName).filter((name) => name.startsWith("lists."));

const lists = {
  listQueues: { proven: proves("admin.queuelist"), get: () => admin.listQueues(), want: names.map((n) => `${n}.q`) },
  listQueuesRuntimeProperties: { get: () => admin.listQueuesRuntimeProperties(), want: names.map((n) => `${n}.q`) },
  listTopics: { proven: proves("admin.topiclist"), get: () => admin.listTopics(), want: [...names, at[0]] },
  listTopicsRuntimeProperties: { get: () => admin.listTopicsRuntimeProperties(), want: [...names, at[0]] },
  listSubscriptions: { proven: proves("admin.sublist"), get: () => admin.listSubscriptions(at[0]), want: names },
  listSubscriptionsRuntimeProperties: { get: () => admin.listSubscriptionsRuntimeProperties(at[0]), want: names },
  listRules: { proven: proves("admin.rulelist"), get: () => admin.listRules(...at), want: names },
};

for (const [method, { proven = [], get, want }] of Object.entries(lists)) {
  test(method, proven, async () => {
    assert.deepEqual(mine(await collect(get())), want);
    for (const maxPageSize of [1, 2, 5, 100]) {
      const pages = await collect(get().byPage({ maxPageSize }));
      assert.deepEqual(mine(pages.flat()), want, `pages of ${maxPageSize}`);
      for (const page of pages) assert.ok(page.length <= maxPageSize, `a page of ${page.length}`);
      // All but the last are full: a client must not have to ask for empty pages between.
      for (const page of pages.slice(0, -1)) assert.equal(page.length, maxPageSize);
    }
  });

  test(`${method} goes on where a page ended`, async () => {
    const { value: first } = await get().byPage({ maxPageSize: 2 }).next();
    assert.equal(first.length, 2);
    assert.equal(first.continuationToken, "2");
    const rest = await collect(get().byPage({ continuationToken: first.continuationToken, maxPageSize: 3 }));
    assert.deepEqual(mine([first, ...rest].flat()), want);
    await invalid(get().byPage({ maxPageSize: -1 }).next(), /^Parameter 'top' should be non-negative integer\.[^]*Parameter name: top\. /);
  });
}

test("a list has the same properties as a get", async () => {
  const find = async (list, name) => (await collect(list)).find((x) => (x.name ?? x.subscriptionName) === name);
  assert.deepEqual(await find(admin.listQueues(), "lists.0.q"), await admin.getQueue("lists.0.q"));
  assert.deepEqual(await find(admin.listTopics(), "lists.0"), await admin.getTopic("lists.0"));
  assert.deepEqual(await find(admin.listSubscriptions(at[0]), "lists.0"), await admin.getSubscription(...at));
  assert.deepEqual(await find(admin.listQueuesRuntimeProperties(), "lists.0.q"), await admin.getQueueRuntimeProperties("lists.0.q"));
  assert.deepEqual(await find(admin.listTopicsRuntimeProperties(), at[0]), await admin.getTopicRuntimeProperties(at[0]));
  const listed = await find(admin.listSubscriptionsRuntimeProperties(at[0]), "lists.0");
  assert.deepEqual(listed, await admin.getSubscriptionRuntimeProperties(...at));
  assert.equal(recent(listed, since).topicName, at[0]);
  assert.equal((await admin.getTopicRuntimeProperties(at[0])).subscriptionCount, count);
});

test("more entities than a page has by default", async () => {
  await admin.createTopic("lists.many");
  await admin.createSubscription("lists.many", "s");
  const many = Array.from({ length: 130 }, (_, i) => `r${String(i).padStart(3, "0")}`);
  for (let i = 0; i < many.length; i += 26) {
    await Promise.all(many.slice(i, i + 26).map((name) => admin.createRule("lists.many", "s", name, { subject: name })));
  }
  const pages = await collect(admin.listRules("lists.many", "s").byPage());
  assert.deepEqual(pages.map((page) => page.length), [100, 31]);
  assert.deepEqual(pages.flat().map((rule) => rule.name), ["$Default", ...many]);
});

test("an empty list, and the list of a topic that is missing", async () => {
  await admin.createTopic("lists.empty");
  assert.deepEqual(await collect(admin.listSubscriptions("lists.empty")), []);
  assert.deepEqual(await collect(admin.listSubscriptionsRuntimeProperties("lists.never")), []);
});
