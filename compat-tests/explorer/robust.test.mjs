// What the page does with what it does not expect: in the address, in answers, in bodies, in files.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { address, check, launch, open, settled, show, told, until } from "./page.mjs";
import { connect, namespace } from "./house.mjs";

const client = connect();
const api = `${address}/$minibus/v1/namespaces`;
let browser, page;
before(async () => {
  browser = await launch();
  await client.createSender("orders").sendMessages({ body: "soon", scheduledEnqueueTimeUtc: new Date(Date.now() + 600_000) });
});
after(async () => {
  await browser?.close();
  await client.close();
});

const to = (hash, in_ = namespace) => show(page, `#/${in_}${hash}`);
const sees = (text, within = page.locator("body")) => within.getByText(text).first().waitFor();

// fresh opens a page whose answers below a path of the namespace are replaced, if one is given.
async function fresh(hash, path, answer) {
  await page?.context().close();
  page = await open(browser, { path: "/?" + Math.random() });
  if (path) await page.route((u) => decodeURIComponent(u.pathname).endsWith(path), answer);
  await page.goto(`${address}/#/${namespace}${hash}`);
  await page.reload();
}

test("a screen that fails is a problem with a way out, and the others work", async () => {
  await fresh("/connections", "/connections", (r) => r.fulfill({ json: { items: [null] } }));
  await sees(/This part of the explorer failed/);
  await until(() => /TypeError/.test(page.errors.join()), "the failure is in the console");
  page.errors = page.errors.filter((e) => !/TypeError/.test(e));
  await check(page, "the problem");
  await page.getByRole("link", { name: "Go to the overview" }).click();
  await sees("Dead letters");
  await to("/jobs");
  await sees("No jobs since Minibus started");
  await to("/connections");
  await sees(/This part of the explorer failed/);
  await page.unrouteAll();
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("heading", { name: "Connections" }).waitFor();
});

test("times in the address that are none are shown as wrong", async () => {
  await fresh("/entity/orders/messages?dueAfter=zzz&state=scheduled");
  await sees(/is not a time such as/);
  await sees("1 shown");
  await check(page, "a wrong time");
  await page.getByRole("button", { name: /Clear the filter due from/ }).click();
  await page.getByText(/is not a time such as/).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "1 scheduled" }).click();
  for (const at of ["zzz", "%2B012345-01-01T00:00:00.000Z", "275761-01-01", "9999-12-31T23:59:59Z"]) {
    await to(`/entity/orders/messages?view=hour&at=${at}`);
    await sees(/next due/);
    await page.locator(".strip-bar").first().waitFor();
    assert.equal(await page.locator(".strip-bar").count(), 60, at);
    await settled(page);
    assert.deepEqual(page.errors, [], at);
  }
});

test("the entities come without the clock", async () => {
  await fresh("", "/clock", (r) => r.fulfill({ status: 500, json: { detail: "the clock is broken" } }));
  await sees("the clock is broken");
  await page.locator(".tree").getByText("orders").waitFor();
  await page.getByRole("heading", { name: "10 entities" }).waitFor();
});

test("a body of four hundred levels unfolds by parts", async () => {
  const deep = (n, begin, end, core = "") => begin.repeat(n) + core + end.repeat(n);
  await client.createSender("empty").sendMessages([{ body: Buffer.from(deep(395, "[", "]")), contentType: "application/json" }, { body: Buffer.from(deep(395, "<a>", "</a>", "x")), contentType: "application/xml" }]);
  for (const number of [1, 2]) {
    await fresh(`/entity/empty/messages/${number}`);
    await page.getByRole("button", { name: "Fold", exact: true }).click();
    await page.getByRole("button", { name: "Unfold", exact: true }).click();
    for (const levels of [50, 100, 150]) {
      await page.waitForFunction((n) => document.querySelectorAll(".fold-head[aria-expanded=true]").length === n, levels);
      if (levels < 150) await page.locator(".fold-head[aria-expanded=false]").evaluate((b) => b.click());
    }
    await sees(/deeper levels are in the other forms/);
    for (let round = 0; round < 2; round++) await page.waitForResponse((r) => r.url().includes("/entities?")); // it is drawn again
    await settled(page);
    await check(page, "a deep body");
  }
});

test("a file that is no template is refused with what is wrong, and toasts are few and stay on their screen", async () => {
  await fresh("/entity/orders/send");
  const good = { body: "", fields: {}, properties: [] };
  const refused = {
    "body is not a string": { ...good, body: 5 }, "bytes is not a Base64 string": { ...good, bytes: "?" }, "other is not an object": { ...good, other: { a: 1 } },
    "kept.constructor is not part": { ...good, kept: { constructor: 1 } }, "fields.colour is not a field": { ...good, fields: { colour: "red" } },
    "properties[0] is not an object": { ...good, properties: [null] }, "properties[0].type is constructor": { ...good, properties: [{ name: "a", type: "constructor", text: "" }] },
    "it is not an object": [], "fill is not true or false": { ...good, fill: 1 },
  };
  const input = page.locator("label", { hasText: "Import" }).locator("input");
  const give = (x) => input.setInputFiles({ name: "t.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify(x)) });
  for (const [words, template] of Object.entries(refused)) {
    await give({ mine: template });
    await told(page, `mine: This is not a template: ${words}`);
    assert.ok(await page.locator(".toast").count() <= 2, "at most two toasts");
  }
  const whole = { body: "x", fields: { subject: "s" }, kept: { priority: 3, messageId: { long: "7" } }, properties: [{ name: "a", type: "list", text: "[1]" }], fill: false };
  await give({ mine: whole });
  await told(page, "1 template imported");
  await check(page, "templates");
  // The toast of what was done stays on its screen; that of a failure comes along.
  await give({ another: 5 });
  await told(page, "This is not a template");
  await give({ another: whole });
  await told(page, "1 template imported");
  await to("/jobs");
  assert.deepEqual(await page.locator(".toast").evaluateAll((l) => l.map((t) => t.classList.contains("failed"))), [true]);
});

test("a name that browsers take for a step is said to be out of reach", async () => {
  await fresh("/entity/..");
  await sees(/Browsers can’t request|no entity/i);
  await to("/entity/./messages");
  await sees(/Browsers can’t request/);
  assert.deepEqual(page.errors, []);
});

test("a namespace that is gone leaves a choice of the others", async () => {
  await fresh("");
  const put = await fetch(api, { method: "POST", headers: { "Content-Type": "application/json" }, body: '{"name": "passing"}' });
  assert.ok(put.ok, await put.text());
  await to("", "passing");
  await sees("This namespace is empty");
  const note = page.locator(".side-empty"), box = await note.boundingBox(), search = await page.locator("#search").boundingBox();
  assert.ok(box.y >= search.y + search.height, "the note is below the search");
  await check(page, "an empty namespace");
  page.allowed.push(404);
  assert.ok((await fetch(`${api}/passing`, { method: "DELETE" })).ok);
  await sees("There is no such namespace.");
  await check(page, "a namespace that is gone");
  await page.locator(".choose").getByText(namespace).click();
  await page.getByRole("heading", { name: "10 entities" }).waitFor();
  await to("/jobs", "never");
  await sees("There is no such namespace.");
  await check(page, "a namespace that never was");
});

test("the frame is painted before the script of the page is there", async () => {
  await page.context().close();
  page = await (await browser.newContext()).newPage();
  let come;
  const coming = new Promise((f) => (come = f));
  await page.route("**/app.js", async (r) => { await coming; await r.continue(); });
  await page.goto(address, { waitUntil: "commit" });
  await page.getByRole("banner").getByText("Minibus").waitFor();
  await page.getByRole("status").getByText("Loading…").waitFor();
  await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint").length > 0);
  come();
  await page.getByRole("heading", { name: namespace }).waitFor();
});
