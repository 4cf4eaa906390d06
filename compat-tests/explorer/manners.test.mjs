// What a new reader expects: dead letters that are not sent twice, durations as people type them, and ways from a message to the rules.
import assert from "node:assert/strict";
import { after, before, beforeEach, afterEach, test } from "node:test";
import { check, launch, open, refused, show, told as toldOn } from "./page.mjs";
import { connect, namespace } from "./house.mjs";

const client = connect();
let browser, page;
before(async () => (browser = await launch()));
after(async () => {
  await browser?.close();
  await client.close();
});
beforeEach(async () => {
  page = await open(browser);
  await page.getByRole("heading", { name: namespace }).waitFor();
});
afterEach(async (t) => {
  if (process.env.MINIBUS_SHOTS) await page.screenshot({ path: `${process.env.MINIBUS_SHOTS}/${t.name.replaceAll(/\W+/g, "-")}.png` });
  assert.deepEqual(page.errors, []);
  await page.context().close();
});

const to = (hash) => show(page, `#/${namespace}${hash}`);
const button = (name) => page.getByRole("button", { name, exact: true });
const field = (name) => page.getByRole("textbox", { name });
const main = () => page.locator("main");
const sees = (text, within = main()) => within.getByText(text).first().waitFor();
const told = (text) => toldOn(page, text);
const dead = (path) => client.createReceiver(...path, { subQueueType: "deadLetter" });
const numbers = async (...path) => (await dead(path).peekMessages(10)).map((m) => String(m.sequenceNumber));

// kill dead-letters the next message.
async function kill(...path) {
  const receiver = client.createReceiver(...path);
  const [m] = await receiver.receiveMessages(1, { maxWaitTimeInMs: 20_000 });
  await receiver.deadLetterMessage(m, { deadLetterReason: "Malformed", deadLetterErrorDescription: "no total" });
  await receiver.close();
  return String(m.sequenceNumber);
}

async function mend(queue, body = "mended") {
  await client.createSender(queue).sendMessages({ body: "broken", applicationProperties: { tenant: "a" } });
  const number = await kill(queue);
  await to(`/entity/${queue}/dead/${number}`);
  await page.getByRole("link", { name: "Edit and resubmit" }).click();
  await page.getByRole("heading", { name: `Edit and resubmit #${number}` }).waitFor();
  await page.getByRole("textbox", { name: "Body" }).fill(body);
  return number;
}

const box = () => page.getByRole("checkbox", { name: "Delete the dead letter after sending" });

test("a mended dead letter is deleted when it is sent", async () => {
  const number = await mend("purged");
  assert.equal(await box().isChecked(), true);
  await page.getByText("More fields").click();
  assert.equal(await field("Time to live").inputValue(), "");
  await check(page, "the form that mends");
  await button("Resubmit").click();
  await told(new RegExp(`Sent as #\\d+, and the dead letter #${number} is deleted\\.`));
  await sees("No dead letters.");
  assert.deepEqual(await numbers("purged"), []);
  const [m] = await client.createReceiver("purged", { receiveMode: "receiveAndDelete" }).receiveMessages(1, { maxWaitTimeInMs: 20_000 });
  assert.equal(String(m.body), "mended");
  assert.deepEqual(m.applicationProperties, { tenant: "a" });
});

test("a dead letter that is to stay is still there, and the page says so", async () => {
  const number = await mend("live");
  await box().uncheck();
  await button("Resubmit").click();
  await told(new RegExp(`Sent as #\\d+\\. The dead letter #${number} is still there\\.`));
  assert.deepEqual(await numbers("live"), [number]);
});

test("a dead letter that cannot be deleted is named with what was sent", async () => {
  const number = await mend("dying");
  const holder = dead(["dying"]);
  await holder.receiveMessages(1, { maxWaitTimeInMs: 20_000 });
  await button("Resubmit").click();
  await sees(new RegExp(`Sent as #\\d+, but the dead letter #${number} is still there`));
  await refused(page, 409);
  await holder.close();
});

test("the clock takes durations as people type them, and says at the field what is wrong", async () => {
  await client.createSender("live").scheduleMessages({ body: "later" }, new Date(Date.now() + 3_600_000)); // falls due, so the explorer asks
  await to("/clock");
  await button("+ 12 h").click();
  await page.getByRole("dialog").getByRole("button", { name: "Advance" }).click();
  await told("Advanced by 12 h.");
  const form = page.locator("form", { hasText: "By a duration" });
  for (const [text, wrong] of [["2", "The unit is missing"], ["soon", "Write a duration such as"]]) {
    await form.getByRole("textbox").fill(text);
    await form.getByRole("button", { name: "Advance" }).click();
    await sees(wrong, form);
  }
  assert.equal(await page.locator(".toast.failed").count(), 0);
  for (const [text, shown] of [["2h", "2 h"], ["PT2H", "2 h"], ["1h 30m", /1 h 30/], ["90s", /1 min 30/]]) {
    await form.getByRole("textbox").fill(text);
    await form.getByRole("button", { name: "Advance" }).click();
    await told(shown === "2 h" ? "Advanced by 2 h." : shown);
  }
});

test("times to live and faults take the same durations", async () => {
  await to("/entity/empty/send");
  await page.getByText("More fields").click();
  await field("Time to live").fill("2 hours or so");
  await button("Send").click();
  await sees("Write a duration such as");
  await field("Time to live").fill("20m 30s");
  await button("Send").click();
  await told(/1 message sent/);
  const [m] = await client.createReceiver("empty", { receiveMode: "receiveAndDelete" }).receiveMessages(1, { maxWaitTimeInMs: 20_000 });
  assert.equal(m.timeToLive, 1_230_000);
  await to("/faults");
  await field(/^Duration/).fill("a while");
  await button("Inject the fault").click();
  await sees("Write a duration such as");
  await field(/^Duration/).fill("2h");
  await button("Inject the fault").click();
  await told(/Injected fault/);
  await button("Remove").click();
  await told(/Removed fault/); // it would hit the next test
});

test("from a message to the subscriptions that would get it", async () => {
  await client.createSender("events").sendMessages({ body: "x", subject: "created", applicationProperties: { amount: 5000, ok: true } });
  const number = await kill("events", "large");
  const bench = async () => {
    await page.getByRole("link", { name: "Which subscriptions get it?" }).click();
    await page.waitForURL(/entity\/events\/test\?m=/);
    await sees("big");
    assert.equal(await field("Subject").inputValue(), "created");
    assert.deepEqual(await page.getByLabel("Value").evaluateAll((l) => l.map((x) => x.value)), ["5000", "true"]);
  };
  await to(`/entity/${encodeURIComponent("events/Subscriptions/large")}/dead/${number}`);
  await bench();
  await to(`/entity/${encodeURIComponent("events/Subscriptions/large")}/dead/${number}`);
  await page.getByRole("link", { name: "Edit and resubmit" }).click();
  await sees("Every subscription with a matching rule gets a copy.");
  await button("Resubmit").click();
  await told(new RegExp(`the dead letter #${number} is deleted`));
  await client.createSender("events").sendMessages({ body: "x", applicationProperties: { amount: 5000 } });
  await kill("events", "large");
  const [later] = await client.createSender("events").scheduleMessages([{ body: "later", subject: "created", applicationProperties: { amount: 5000, ok: true } }], new Date(Date.now() + 7 * 86_400_000));
  await to(`/entity/events/messages/${later}`);
  await bench();
});

test("from a rule that selects nothing to the test of a message", async () => {
  await client.createSender("events").sendMessages({ body: "y", applicationProperties: { amount: 5 } });
  await to(`/entity/${encodeURIComponent("events/Subscriptions/large")}/why`);
  await page.getByRole("link", { name: "Test a message of events" }).click();
  await page.waitForURL(/entity\/events\/test/);
  await button("audit").click(); // which got it
  await sees("amount > 1000 is false: amount is 5");
});

test("what destroys is in a menu, and says how much it would", async () => {
  await client.createSender("purged").sendMessages([{ body: "1" }, { body: "2" }]);
  await kill("purged");
  await to("/entity/purged/settings");
  await page.getByRole("link", { name: /^Messages\s*1$/ }).waitFor(); // a question says how many there are when it is asked
  assert.equal(await button("Purge messages").count(), 0);
  await button("More actions").click();
  await button("Purge dead letters").waitFor();
  await button("Delete queue").first().waitFor(); // the second is that of the settings
  await check(page, "the menu of an entity");
  await page.keyboard.press("Escape");
  await button("Purge messages").waitFor({ state: "detached" });
  await button("More actions").click();
  await button("Purge messages").click();
  await page.getByRole("dialog", { name: "Purge messages?" }).getByRole("button", { name: "Purge 1 message" }).waitFor();
  await page.keyboard.press("Escape");
  await button("More actions").click();
  await button("Purge dead letters").click();
  const letters = page.getByRole("dialog", { name: "Purge dead letters?" });
  await sees("All dead letters of purged will be removed", letters);
  assert.match(await letters.locator("footer").textContent(), /Purge \d+ dead letters?$/);
  await page.keyboard.press("Escape");
  await to("/entity/empty");
  await button("More actions").click();
  assert.equal(await button("Purge messages").isDisabled(), true);
  await page.keyboard.press("Escape");
  await page.getByRole("link", { name: "Send message" }).click();
  await page.getByRole("textbox", { name: "Body" }).waitFor();
  await to("/entity/empty/messages/999");
  await sees("Message #999 is no longer here");
  assert.equal(await main().getByRole("alert").count(), 0);
  await refused(page, 404);
});

test("the tabs of a subscription stand in one row, and names of properties break between words", async () => {
  await to(`/entity/${encodeURIComponent("events/Subscriptions/large")}`);
  await sees("Settings");
  const tops = await main().locator(".tabs").first().locator(".tab").evaluateAll((l) => [...new Set(l.map((x) => x.getBoundingClientRect().top))]);
  assert.equal(tops.length, 1);
  await client.createSender("empty").sendMessages({ body: "x", applicationProperties: { deliveryWindowStart: "noon" } });
  const [m] = await client.createReceiver("empty").peekMessages(1);
  await to(`/entity/empty/messages/${m.sequenceNumber}`);
  const name = page.locator(".values bdi", { hasText: "deliveryWindowStart" });
  await name.waitFor();
  assert.equal(await name.evaluate((e) => e.innerHTML), "delivery<wbr>Window<wbr>Start");
});
