// Whole tasks by the keyboard alone, from the overview to the end. What has the focus is always to be seen.
import assert from "node:assert/strict";
import { after, before, beforeEach, afterEach, test } from "node:test";
import { chord, launch, open, sizes, told as toldOn } from "./page.mjs";
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
afterEach(async () => {
  assert.deepEqual(page.errors, []);
  await page.context().close();
});

const main = () => page.locator("main");
const sees = (text, within = main()) => within.getByText(text).first().waitFor();
const told = (text) => toldOn(page, text);
const press = (...keys) => keys.reduce((before, k) => before.then(() => page.keyboard.press(k)), Promise.resolve());
const type = (text) => page.keyboard.type(text);
const control = (role, name) => page.getByRole(role, { name, exact: true }).filter({ visible: true }).first();

const most = 150; // presses of Tab from one control to the next

// bareFocus returns what has the focus and does not show it, or is out of sight. An editor shows it a moment later.
async function bareFocus(tries = 60) {
  const bare = await page.evaluate(() => {
    let e = document.activeElement;
    while (e?.shadowRoot?.activeElement) e = e.shadowRoot.activeElement;
    if (!e || e === document.body) return "";
    const seen = [e, ...e.querySelectorAll("*"), e.closest("label,.cm-editor")].filter(Boolean).some((x) => {
      const s = getComputedStyle(x);
      return (s.outlineStyle !== "none" && parseFloat(s.outlineWidth) > 0) || s.boxShadow !== "none";
    });
    const r = e.getBoundingClientRect();
    return seen && r.bottom > 0 && r.top < innerHeight ? "" : e.outerHTML.slice(0, 200);
  });
  if (!bare || tries === 0) return bare;
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn))));
  return bareFocus(tries - 1);
}

// tabTo presses Tab until a control has the focus. Each one on the way must show that it has it.
async function tabTo(wanted) {
  await wanted.waitFor();
  for (let i = 0; i < most; i++) {
    if (await wanted.evaluate((e) => e === e.getRootNode().activeElement)) return;
    await press("Tab");
    const bare = await bareFocus();
    assert.equal(bare, "", "the focus is not to be seen");
  }
  assert.fail(`no Tab reaches ${wanted}`);
}

async function follow(role, name) {
  await tabTo(control(role, name));
  await press("Enter");
}

// leaveEditor leaves the editor, which keeps Tab for itself until Escape. Before it has come, the plain field would let Tab go, and the editor take the next one.
async function leaveEditor() {
  await page.locator(".cm-content").waitFor();
  await chord(page, "Escape", "Tab");
}

// goTo opens what the palette finds first. It types at once, as people do: no key may be lost before the palette has the focus.
async function goTo(text) {
  await page.getByRole("treeitem", { name: text.split(" ")[0] }).first().waitFor(); // the page knows the entity
  await press("Control+k");
  await type(text);
  await page.getByRole("listbox", { name: "Commands" }).getByRole("option").first().waitFor();
  await press("Enter");
}

test("a queue is made, sent to, and received from", async () => {
  await press("n");
  await tabTo(page.getByRole("textbox", { name: "Name" }).first());
  await type("by-keys");
  await press("Enter");
  await page.getByRole("heading", { name: "by-keys" }).waitFor();
  await follow("link", "Send");
  await tabTo(page.getByRole("textbox", { name: "Body" }));
  await type("hello");
  await leaveEditor();
  await tabTo(page.getByRole("textbox", { name: "Subject" }));
  await type("greeting");
  await press("Enter");
  await told(/1 message sent: #1/);
  await goTo("by-keys receive");
  await follow("button", "Receive");
  await sees("1 message held");
  await follow("button", "Complete");
  await told("1 message completed: #1.");
  const [left] = await client.createReceiver("by-keys").peekMessages(1);
  assert.equal(left, undefined);
});

test("a dead letter is found, explained, mended and sent again", async () => {
  await client.createSender("dying").sendMessages({ body: '{"total": "none"}', contentType: "application/json", messageId: "order-7" });
  const receiver = client.createReceiver("dying");
  const [m] = await receiver.receiveMessages(1, { maxWaitTimeInMs: 20_000 });
  await receiver.deadLetterMessage(m, { deadLetterReason: "Malformed", deadLetterErrorDescription: "the total is no number" });
  await goTo("dying dead");
  await follow("link", String(m.sequenceNumber));
  await sees("the total is no number");
  await follow("link", "Edit and resubmit");
  await page.getByRole("heading", { name: `Edit and resubmit #${m.sequenceNumber}` }).waitFor();
  await tabTo(page.getByRole("textbox", { name: "Body" }));
  await press("Control+a");
  await type('{"total": 7}');
  await leaveEditor();
  await follow("button", "Resubmit");
  await told(/and the dead letter #\d+ is deleted/);
  const [mended] = await client.createReceiver("dying", { receiveMode: "receiveAndDelete" }).receiveMessages(1, { maxWaitTimeInMs: 20_000 });
  assert.deepEqual(mended.body, { total: 7 });
});

test("the subscription that gets nothing says why, and its rule is changed", async () => {
  await client.createSender("events").sendMessages({ body: "x", applicationProperties: { amount: 5 } });
  await goTo("events large why");
  await sees("The rules of events/large selected none of 1 message sent to the topic");
  await follow("link", "Test a message of events");
  await page.getByRole("heading", { name: "Test message" }).waitFor();
  await tabTo(page.getByRole("textbox", { name: "Subject" }));
  await goTo("large rules");
  await follow("link", "Edit big");
  await tabTo(page.getByRole("textbox", { name: "Condition" }));
  await press("Control+a");
  await type("amount > 1");
  await follow("button", "Save the rule");
  await told("Saved the rule."); // the editor has the text before
  await sees("amount > 1");
  await client.createSender("events").sendMessages({ body: "y", applicationProperties: { amount: 5 } });
  const [m] = await client.createReceiver("events", "large").receiveMessages(1, { maxWaitTimeInMs: 20_000 });
  assert.equal(String(m?.body), "y");
});

test("the search has the focus before another key can come", async () => {
  for (const [name, size] of Object.entries(sizes)) {
    await page.setViewportSize(size);
    const focused = await page.evaluate(async () => {
      document.activeElement.blur();
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "/", bubbles: true }));
      await null; // what the key has started goes on in steps like this one, and keys that wait come after them
      return document.activeElement.id;
    });
    assert.equal(focused, "search", name);
  }
});

test("the tree, the theme and the keys", async () => {
  await page.getByRole("treeitem", { name: "orders" }).waitFor();
  await press("/");
  await type("orders");
  await press("Enter");
  await page.getByRole("heading", { name: "orders" }).waitFor();
  await page.evaluate(() => document.activeElement.blur());
  await press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await press("t");
  await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
  await chord(page, "g", "c");
  await page.getByRole("heading", { name: "Connections" }).waitFor();
  await page.goBack();
  await page.getByRole("heading", { name: "orders" }).waitFor();
});
