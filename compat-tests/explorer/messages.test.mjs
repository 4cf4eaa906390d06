// Messages: forms of bodies, the editor, templates, repeating, files, exports, and editing dead letters; with the JavaScript SDK on the other side.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, beforeEach, afterEach, test } from "node:test";
import { address, check, chord, copied, launch, open, refused, settled, show, sizes, taken, told, until } from "./page.mjs";
import { connect, namespace } from "./house.mjs";

const client = connect();
let browser, page;
before(async () => (browser = await launch()));
after(async () => {
  await browser?.close();
  await client.close();
});
beforeEach(async () => {
  page = await open(browser, { permissions: ["clipboard-read", "clipboard-write"] });
  await page.getByRole("heading", { name: namespace }).waitFor();
});
afterEach(async () => {
  assert.deepEqual(page.errors, []);
  await page.context().close();
});

const to = (hash) => show(page, `#/${namespace}${hash}`);
const button = (name) => page.getByRole("button", { name, exact: true });
const sees = (text, within = page.locator("main")) => within.getByText(text).first().waitFor();
const toast = (text) => told(page, text);
const agree = (name) => page.getByRole("dialog").getByRole("button", { name }).click();
const form = (name) => page.getByRole("group", { name: "Form of the body" }).getByRole("button", { name, exact: true });
const send = (queue, ...messages) => client.createSender(queue).sendMessages(messages);
const receive = async (queue, n = 1) => taken(client.createReceiver(queue, { receiveMode: "receiveAndDelete" }), n);
const raw = (text) => Buffer.from(text);
const first = async (queue) => (await (await fetch(`http://localhost:${process.env.MINIBUS_PORT_HTTP}/$minibus/v1/namespaces/${namespace}/entities/${queue}/messages?order=newest&limit=1`)).json()).items[0].sequenceNumber;
const openNewest = async (queue) => to(`/entity/${queue}/messages/${await first(queue)}`);
// edit writes into the editor once it has come.
const edit = async (text) => {
  const at = page.locator(".cm-content");
  await at.waitFor();
  await at.fill(text);
};

test("JSON is a tree with its numbers as they are written", async () => {
  await send("empty", { body: raw('{"id": 12345678901234567890, "price": 5.0, "lines": [{"sku": "a"}], "none": []}'), contentType: "application/json" });
  await openNewest("empty");
  await sees("12345678901234567890");
  await sees("5.0");
  const head = page.getByRole("button", { name: /"lines"/ });
  await head.click();
  await sees("1 … ]");
  await page.locator(".folds").getByText('"sku"').first().waitFor({ state: "detached" });
  await head.click();
  await sees('"sku"', page.locator(".folds"));
  await button("Fold").click();
  await page.locator(".folds").getByText('"sku"').first().waitFor({ state: "detached" });
  assert.match(await copied(page, button("Copy the body")), /\n {2}"id": 12345678901234567890,\n/);
  await check(page, "JSON");
});

test("XML is a tree of text, and what is no XML a text", async () => {
  await send("empty", { body: raw('<?xml version="1.0"?><order id="1"><!-- a note --><line><sku>a&amp;b</sku></line><script>alert(1)</script></order>'), contentType: "application/xml" });
  await openNewest("empty");
  await sees("<sku>a&amp;b</sku>");
  await sees("<!-- a note -->");
  assert.equal(await page.evaluate(() => document.querySelectorAll("main script").length), 0);
  await form("Text").click();
  await sees("<?xml version");
  await send("empty", { body: raw("<order><line></order>"), contentType: "application/xml" });
  await openNewest("empty");
  await sees("<order><line></order>");
  assert.equal(await form("XML").count(), 0);
});

test("values of AMQP show their types", async () => {
  await client.createSender("empty").sendMessages({ bodyType: "value", body: { color: "red", n: [1, true] } });
  await openNewest("empty");
  assert.equal(await form("Types").getAttribute("aria-pressed"), "true");
  await sees(/color string/);
  await sees(/1 boolean/);
  await send("empty", { body: raw([0xff, 0x00, 0xfe]) });
  await openNewest("empty");
  assert.equal(await form("Hex").getAttribute("aria-pressed"), "true");
  await form("Types").click();
  await sees(/3\sB, not a text/);
});

test("a picture is drawn, a text is found in a body, and keys act on the message", async () => {
  const png = await page.evaluate(() => { const c = document.createElement("canvas"); c.width = 3; c.height = 2; return c.toDataURL("image/png").split(",")[1]; });
  await send("empty", { body: Buffer.from(png, "base64"), contentType: "image/png" });
  await openNewest("empty");
  await page.getByRole("img", { name: "Picture, 3 × 2 pixels" }).waitFor();
  await check(page, "a picture");
  await send("empty", { body: raw(JSON.stringify({ list: Array.from({ length: 40 }, (_, i) => ({ sku: `part-${i}` })) })), contentType: "application/json", messageId: "keys" });
  await openNewest("empty");
  await page.getByLabel("Find in the body").fill("PART-3");
  await sees("11 matches");
  assert.equal(await page.locator("mark").first().textContent(), "part-3");
  await page.getByLabel("Find in the body").fill("nowhere");
  await sees("The body does not contain this text.");
  await page.getByRole("heading", { name: "Properties" }).click();
  await page.keyboard.press("Delete");
  await agree("Delete 1 message");
  await toast(/deleted/);
  await openNewest("empty");
  await page.getByRole("region", { name: /^Message \d/ }).waitFor();
  await page.keyboard.press("Escape");
  await page.waitForURL(/\/empty\/messages$/);
});

test("of a body of 50 MiB the page has the beginning, and the file all", async () => {
  const piece = JSON.stringify({ sku: "x".repeat(90), amount: 5 }) + ",", body = "[" + piece.repeat(Math.floor((50 << 20) / piece.length)) + "0]";
  const answer = await fetch(`http://localhost:${process.env.MINIBUS_PORT_HTTP}/$minibus/v1/namespaces/${namespace}/entities/large/messages`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ body, contentType: "application/json" }) });
  assert.equal(answer.status, 201, await answer.clone().text());
  await openNewest("large");
  await sees(/These are the first 256\sKiB of 50\sMiB/);
  assert.equal(await form("JSON").getAttribute("aria-pressed"), "true");
  assert.ok(await page.evaluate(() => document.querySelectorAll(".fold li").length) < 800);
  await page.getByRole("button", { name: /100 more of/ }).first().click();
  await form("Text").click();
  await page.getByRole("button", { name: /more characters/ }).click();
  await form("Hex").click();
  await page.getByRole("button", { name: /more bytes/ }).click();
  const file = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download all of it" }).click();
  assert.equal(readFileSync(await (await file).path()).length, body.length);
});

test("j and k, the arrows and the buttons go from message to message", async () => {
  await send("steps", ...[1, 2, 3].map((i) => ({ body: `step ${i}`, messageId: `step-${i}` })));
  await to("/entity/steps/messages?order=oldest");
  await page.getByRole("table", { name: "Messages" }).getByText("step-1").waitFor();
  await page.keyboard.press("j");
  await page.getByRole("region", { name: "Message 1" }).waitFor();
  await page.keyboard.press("j");
  await page.getByRole("region", { name: "Message 2" }).waitFor();
  await page.keyboard.press("ArrowDown");
  await page.getByRole("region", { name: "Message 3" }).waitFor();
  assert.ok(await page.getByRole("button", { name: "Next message (j)" }).isDisabled());
  await page.getByRole("button", { name: "Previous message (k)" }).click();
  await page.getByRole("region", { name: "Message 2" }).waitFor();
  await page.keyboard.press("k");
  await page.getByRole("region", { name: "Message 1" }).waitFor();
  await page.goBack();
  await page.getByRole("region", { name: "Message 2" }).waitFor();
  await chord(page, "g", "j");
  await page.getByRole("heading", { name: "Jobs" }).waitFor();
});

test("the editor comes when a text is edited, shows where JSON is wrong, and can be left by keys", async () => {
  const scripts = () => page.evaluate(() => performance.getEntriesByType("resource").map((e) => e.name).filter((n) => n.endsWith("editor.js")).length);
  assert.equal(await scripts(), 0);
  await to("/entity/typed/send");
  await edit('{"a": ,}');
  assert.equal(await scripts(), 1);
  await page.locator(".cm-lintRange-error", { hasText: /^,$/ }).waitFor();
  const said = page.getByText('Not JSON: "," is unexpected, in line 1, column 7.');
  await until(async () => { // a marker that is drawn anew below the pointer says nothing
    await page.mouse.move(0, 0);
    await page.locator(".cm-lint-marker-error").hover();
    return said.waitFor({ timeout: 3000 }).then(() => true, () => false);
  }, "the marker says what is wrong");
  await edit('{"a": {{n}}, "b": "{{uuid}}"}');
  await page.locator(".cm-lint-marker-error").waitFor({ state: "detached" });
  await page.locator(".cm-content").focus();
  await page.keyboard.press("Control+Home");
  await page.keyboard.type("/");
  assert.match(await page.locator(".cm-content").textContent(), /^\/\{/, "keys of the page are the editor's");
  await page.keyboard.press("Control+z");
  assert.match(await page.locator(".cm-content").textContent(), /^\{/);
  await page.keyboard.press("Control+f");
  await page.locator(".cm-search").waitFor();
  await page.keyboard.press("Escape");
  await page.locator(".cm-content").focus();
  await chord(page, "Escape", "Tab");
  assert.equal(await page.evaluate(() => document.activeElement.hasAttribute("data-editor")), false);
  await check(page, "the editor");
});

test("what is typed while the editor comes is all there", async () => {
  let come;
  const coming = new Promise((f) => (come = f));
  await page.context().close();
  page = await open(browser, { path: `/#/${namespace}` });
  await page.route("**/editor.js", async (r) => { await coming; await r.continue(); });
  await to("/entity/typed/send");
  const body = page.getByRole("textbox", { name: "Body" });
  await body.focus();
  await page.keyboard.type("one two");
  await page.keyboard.press("ArrowLeft");
  come();
  const text = "n".repeat(400) + "t".repeat(40); // both are commands of the page
  for (const c of text) await page.keyboard.type(c);
  await page.locator(".cm-content").waitFor();
  await page.keyboard.type("!");
  assert.equal(await page.locator(".cm-content").textContent(), `one tw${text}!o`);
  await check(page, "typed while the editor came");
});

test("what is typed over a coloured selection takes no style from it", async () => {
  await to("/entity/typed/send");
  for (const text of ['{"a": 1}', '{"b": "two"}']) {
    await edit(text);
    await page.locator(".cm-content span[class]").first().waitFor();
  }
  await page.locator(".cm-content").focus();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("{}");
  assert.equal(await page.locator(".cm-content").textContent(), "{}");
  await check(page, "typed over a selection");
});

test("Escape in the editor of a session's state leaves the editor first, then the window", async () => {
  await client.createSender("carts").sendMessages({ body: "x", sessionId: "s" });
  await to("/entity/carts/sessions");
  await button("State").click();
  const dialog = page.getByRole("dialog", { name: "State of session s" });
  await dialog.getByRole("button", { name: "Edit" }).click();
  await edit('{"kept": true}');
  await chord(page, "Escape", "Tab");
  assert.ok(await dialog.isVisible());
  await dialog.getByRole("button", { name: "Save" }).click();
  await toast("State saved.");
  await page.locator("main").getByText("kept").waitFor(); // the list knows that there is a state
  await button("State").click();
  await dialog.getByRole("button", { name: "Edit" }).click();
  await page.locator(".cm-content").getByText("kept").waitFor();
  await page.locator(".cm-content").focus();
  await chord(page, "Escape", "Escape");
  await dialog.waitFor({ state: "detached" });
});

test("many messages at a rate, with placeholders, can be stopped", async () => {
  await to("/entity/typed/send");
  await edit('{"n": {{n}}, "id": "{{uuid}}", "at": "{{now}}"}');
  await page.getByLabel("Message id").fill("many-{{n}}");
  await page.getByText("Schedule and repeat").click();
  await page.getByLabel("How many").fill("3");
  await button("Send").click();
  await toast(/3 messages sent/);
  const got = (await receive("typed", 3)).map((m) => [m.messageId, m.body.n, m.body.id.length, Number.isFinite(Date.parse(m.body.at))]);
  assert.deepEqual(got, [1, 2, 3].map((n) => [`many-${n}`, n, 36, true]));
  await page.getByRole("checkbox", { name: /Replace/ }).uncheck();
  await page.getByLabel("How many").fill("1");
  await button("Send").click();
  await toast(/1 message sent/);
  assert.equal((await receive("typed"))[0].messageId, "many-{{n}}");
  await page.getByLabel("How many").fill("100000");
  await page.getByLabel("Messages per second").fill("20");
  await button("Send").click();
  await sees(/of 100,000 sent/);
  await button("Stop").click();
  await toast(/messages? sent: .* Stopped\./);
  await page.getByLabel("Messages per second").fill("fast");
  await button("Send").click();
  await sees(/enter a number above 0/);
});

test("schedule after a span, by a clock that is frozen", async () => {
  const clock = `http://localhost:${process.env.MINIBUS_PORT_HTTP}/$minibus/v1/namespaces/${namespace}/clock`;
  const now = (await (await fetch(clock + "/freeze", { method: "POST" })).json()).now;
  await to("/entity/typed/send");
  await page.getByText("Schedule and repeat").click();
  await page.getByLabel("When").selectOption("after");
  await page.getByRole("textbox", { name: "Time span" }).fill("soon");
  await button("Schedule").click();
  await sees(/Write a duration such as/);
  await page.getByRole("textbox", { name: "Time span" }).fill("1h 30m");
  await page.getByLabel("Message id").fill("in-a-while");
  await button("Schedule").click();
  await toast(/1 message scheduled/);
  const item = (await (await fetch(clock.replace("/clock", "/entities/typed/messages?state=scheduled"))).json()).items.find((m) => m.messageId === "in-a-while");
  assert.equal(Date.parse(item.scheduledEnqueueTime) - Date.parse(now), 5_400_000);
  await fetch(clock + "/resume", { method: "POST" });
});

test("schedule at a time, as people write it", async () => {
  await to("/entity/typed/send");
  await page.getByText("Schedule and repeat").click();
  await page.getByLabel("When").selectOption("at");
  await page.getByPlaceholder("2026-12-24 18:00").fill("tomorrow");
  await page.getByLabel("Message id").fill("in-2031");
  await button("Schedule").click();
  await sees(/Write a date and a time such as/);
  await page.getByPlaceholder("2026-12-24 18:00").fill("2031-05-04 18:30");
  await button("Schedule").click();
  await toast(/1 message scheduled/);
  const items = (await (await fetch(`http://localhost:${process.env.MINIBUS_PORT_HTTP}/$minibus/v1/namespaces/${namespace}/entities/typed/messages?state=scheduled`)).json()).items;
  assert.equal(items.find((m) => m.messageId === "in-2031").scheduledEnqueueTime, "2031-05-04T16:30:00Z");
});

test("a draft stays when its tab is left, says so, is sent by Ctrl Enter, and broken JSON asks first", async () => {
  await to("/entity/typed/send");
  await edit('{"kept": ');
  await page.getByLabel("Content type").fill("application/json");
  const tab = page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: /^Send/ });
  await tab.locator(".dot").waitFor();
  await page.getByRole("link", { name: "Summary" }).click();
  await page.getByRole("heading", { name: "Properties" }).waitFor();
  await page.reload();
  await tab.click();
  await page.locator(".cm-content").getByText('{"kept":').waitFor();
  await page.locator(".cm-content").focus();
  await page.keyboard.press("Control+Enter");
  await page.getByRole("dialog", { name: "Send a body that is not valid JSON?" }).getByText("it ends too early").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await edit('{"kept": true}');
  await page.keyboard.press("Control+Enter");
  await toast(/1 message sent/);
  await tab.locator(".dot").waitFor({ state: "detached" });
  await page.getByRole("link", { name: /^See #/ }).click();
  await page.waitForURL(/\/typed\/messages\/\d+$/);
  await sees('"kept"', page.locator(".folds"));
  await page.getByRole("heading", { name: "Properties" }).waitFor();
  await sees("application/json", page.locator(".facts"));
});

test("JSON on one line is edited in lines, and sent on one", async () => {
  await send("typed", { body: raw('{"a":1.0,"b":[1, 2]}'), contentType: "application/json", messageId: "flat" });
  const number = await first("typed");
  await to(`/entity/typed/send?from=typed&number=${number}`);
  await page.locator(".cm-line").getByText('"a": 1.0,').waitFor();
  await button("Send").click();
  await toast(/1 message sent/);
  await edit('{\n  "a": 2.0,\n  "b": []\n}');
  await button("Send").click();
  await toast(/1 message sent/);
  await page.getByLabel("Send on one line, as it came").click();
  await button("Send").click();
  await until(async () => (await first("typed")) === number + 3, "three are sent");
  const bodies = [];
  for (let i = 0; i < 4; i++) bodies.push((await (await fetch(`http://localhost:${process.env.MINIBUS_PORT_HTTP}/$minibus/v1/namespaces/${namespace}/entities/typed/messages/${number + i}`)).json()).body);
  assert.deepEqual(bodies, ['{"a":1.0,"b":[1, 2]}', '{"a":1.0,"b":[1, 2]}', '{"a":2.0,"b":[]}', '{\n  "a": 2.0,\n  "b": []\n}']);
});

test("templates are saved, loaded, renamed, exported, imported and deleted", async () => {
  await to("/entity/typed/send");
  await edit('{"template": 1}');
  await page.getByLabel("Subject").fill("from a template");
  await page.getByLabel("Template name").fill("first");
  await button("Save as template").click();
  await toast(/Template first saved/);
  await page.reload();
  await page.locator(".templates").getByRole("button", { name: "Load" }).click();
  await page.waitForURL(/template=first/);
  assert.equal(await page.getByLabel("Subject").inputValue(), "from a template");
  await button("Rename").click();
  await page.getByLabel("New name of first").fill("second");
  await page.keyboard.press("Enter");
  await sees("second", page.locator(".templates"));
  const file = page.waitForEvent("download");
  await button("Export").click();
  const path = await (await file).path();
  assert.equal(JSON.parse(readFileSync(path, "utf8")).second.fields.subject, "from a template");
  await button("Delete").click();
  await agree("Delete 1 template");
  await sees("Save a message that you send often");
  await page.locator(".toasts").getByRole("button", { name: "Undo" }).click();
  await sees("second", page.locator(".templates"));
  await button("Delete").click();
  await agree("Delete 1 template");
  await sees("Save a message that you send often");
  const input = page.locator("label", { hasText: "Import" }).locator("input");
  await input.setInputFiles({ name: "t.json", mimeType: "application/json", buffer: Buffer.from('{"x": {"body": 5}}') });
  await toast(/This is not a template/);
  await input.setInputFiles(path);
  await toast(/1 template imported/);
  await sees("second", page.locator(".templates"));
  await check(page, "templates");
});

test("dead letters are exported, sent from the file, and resubmitted with changes", async () => {
  const long = "y".repeat(100_000);
  await send("letters", { body: raw(JSON.stringify({ long })), contentType: "application/json", messageId: "long", applicationProperties: { tries: 1, secret: "s" } }, { body: raw([0xff, 1]), messageId: "bytes" }, { body: "text", messageId: "text" });
  const receiver = client.createReceiver("letters");
  for (const m of await taken(receiver, 3)) await receiver.deadLetterMessage(m, { deadLetterReason: m.messageId === "text" ? "Other" : "Poison" });
  await to("/entity/letters/dead");
  await button("By reason").click();
  const row = page.getByRole("row", { name: /Poison/ }).filter({ has: button("Export") });
  const file = page.waitForEvent("download");
  await row.getByRole("button", { name: "Export" }).click();
  const path = await (await file).path(), lines = readFileSync(path, "utf8").trim().split("\n").map((l) => JSON.parse(l));
  assert.deepEqual(lines.map((l) => l.messageId).sort(), ["bytes", "long"]);
  assert.equal(JSON.parse(lines.find((l) => l.messageId === "long").body).long, long);
  assert.equal(Buffer.from(lines.find((l) => l.messageId === "bytes").bodyBase64, "base64").length, 2);

  await row.getByRole("button", { name: "Resubmit" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Send to").fill("nowhere");
  await dialog.getByRole("button", { name: "Resubmit 2 dead letters" }).click();
  await sees("There is no queue or topic nowhere", dialog);
  await dialog.getByLabel("Send to").fill("typed");
  await dialog.getByText("Change the messages").click();
  await dialog.getByLabel("New subject").fill("mended");
  await button("Add a property").click();
  await dialog.getByLabel("Name", { exact: true }).fill("tries");
  await dialog.getByLabel("Type of tries").selectOption("int");
  await dialog.getByLabel("Value of tries").fill("2");
  await dialog.getByLabel("Application properties to remove").fill("secret, none");
  await check(page, "the form of resubmitting");
  await dialog.getByRole("button", { name: "Resubmit 2 dead letters" }).click();
  await toast(/Done: 2 messages|in the background/);
  const from = client.createReceiver("typed", { receiveMode: "receiveAndDelete" }), got = [];
  while (got.length < 2) got.push(...(await taken(from, 1)).filter((m) => m.subject === "mended")); // others of before are there too
  for (const m of got) assert.deepEqual(m.applicationProperties, { tries: 2 });

  await to("/entity/letters/send");
  const input = page.locator("label", { hasText: "Messages from a file" }).locator("input");
  await input.setInputFiles({ name: "bad.jsonl", mimeType: "text/plain", buffer: Buffer.from('{"body":"a"}\n\n{"bodi":"b"}\n') });
  await sees(/Line 3.*bodi.*Nothing was sent/);
  await refused(page, 400);
  await input.setInputFiles(path);
  await toast(/2 messages sent/);
  const again = await receive("letters", 2);
  assert.deepEqual(again.map((m) => m.messageId).sort(), ["bytes", "long"]);

  await send("letters", { body: "{{now}}", messageId: "waiting", applicationProperties: { large: "x".repeat(40_000) } });
  await to("/entity/letters");
  await button("More actions").click();
  const seed = page.waitForEvent("download");
  await button("Save as seed").click();
  const saved = readFileSync(await (await seed).path(), "utf8").trim().split("\n").map((l) => JSON.parse(l));
  await toast(/Saved 2 messages as letters.jsonl/);
  assert.deepEqual(saved.map((l) => `${l.entity} ${l.messageId}`).sort(), ["letters waiting", "letters/$DeadLetterQueue text"]);
  assert.equal(saved[0].body, '"\\{{now}}"');
  assert.ok(saved.every((l) => !("sequenceNumber" in l) && !("enqueuedTime" in l) && !("deadLetterReason" in l)));
  await to("/");
  const refusals = page.getByRole("table", { name: "Azure would have refused" });
  await sees(/'large' of the message has 4000\d bytes.*1×/, refusals);
  await refusals.getByRole("link", { name: "letters" }).click();
  await sees(/Azure would have refused 1 operation/);
});

test("of a hundred thousand messages the page draws those in sight", async () => {
  const line = JSON.stringify(Array.from({ length: 1000 }, (_, i) => ({ body: `message ${i}`, messageId: `m-${i}`, subject: "load" })));
  for (let i = 0; i < 100; i++) {
    const answer = await fetch(`http://localhost:${process.env.MINIBUS_PORT_HTTP}/$minibus/v1/namespaces/${namespace}/entities/crowd/messages`, { method: "POST", headers: { "content-type": "application/json" }, body: line });
    assert.equal(answer.status, 201);
  }
  await page.locator(".sidebar").getByTitle("100,000 active").first().waitFor(); // news are what comes after the count that is known
  await to("/entity/crowd/messages?order=oldest");
  await page.getByText(/of 100,000 shown/).waitFor();
  const box = page.locator(".table-box");
  const shown = async () => Number((await page.getByText(/of 100,000 shown/).textContent()).replace(/ of.*|\D/g, ""));
  for (let n = await shown(); n < 10_000; n = await shown()) {
    await box.evaluate((b) => (b.scrollTop = b.scrollHeight));
    await until(async () => (await shown()) > n, `no more than ${n} messages come`);
    const rows = await page.locator(".table-all .tr").count();
    assert.ok(rows > 0 && rows < 100, `${rows} rows`);
  }
  await button("Refresh").waitFor();
  await send("crowd", { body: "a" }, { body: "b" });
  await button("Show 2 new").click();
  await button("Refresh").waitFor();
  await page.getByText("+ Filter").click();
  await page.getByRole("searchbox", { name: "From number" }).fill("90000");
  await page.getByRole("link", { name: "90000", exact: true }).waitFor();
});

test("the table needs no sideways scrolling", async () => {
  await send("steps", { body: "wide", messageId: "w".repeat(128), subject: "s".repeat(200), correlationId: "c".repeat(128) });
  for (const size of [sizes.wide, sizes.phone]) {
    await page.setViewportSize(size);
    await to("/entity/steps/messages");
    await page.getByRole("table", { name: "Messages" }).getByRole("link").first().waitFor();
    assert.deepEqual(await page.locator(".table-box").evaluate((b) => [b.scrollWidth - b.clientWidth, document.documentElement.scrollWidth - innerWidth]), [0, 0], `${size.width}`);
  }
});

test("no row moves on a click, and the table has the columns, the order and the width that one likes", async () => {
  await page.setViewportSize({ width: 1440, height: 900 });
  await send("typed", ...["b", "a", "c"].map((tenant, i) => ({ body: "x", messageId: `a-long-id-that-ends-in-${i}`, applicationProperties: { tenant, "property-10": 10, "property-2": 2 } })));
  await client.createSender("typed").scheduleMessages({ body: "later", messageId: "scheduled" }, new Date(Date.now() + 3_500_000));
  await to("/entity/typed/messages?text=a-long-id");
  const table = page.getByRole("table", { name: "Messages" }), row = (text) => table.getByRole("row", { name: text });
  await row(/ends-in-0/).waitFor();
  await page.getByRole("button", { name: /scheduled$/ }).waitFor();
  const stays = async (act) => {
    await settled(page);
    const before = (await row(/ends-in-0/).boundingBox()).y;
    await act();
    assert.equal((await row(/ends-in-0/).boundingBox()).y, before, String(act));
  };
  await stays(async () => { await row(/ends-in-0/).getByRole("checkbox").check(); await button("Delete 1").waitFor(); });
  await stays(async () => { await table.getByLabel("Select all shown").check(); await button("Delete 3").waitFor(); });
  await stays(async () => { await row(/ends-in-0/).getByText("active").click(); await page.getByRole("region", { name: /^Message/ }).getByText("property-2").waitFor(); });
  assert.deepEqual(await page.locator(".values tr td:first-child bdi").allTextContents(), ["property-2", "property-10", "tenant"]);
  const wide = (await table.boundingBox()).width, divider = page.getByRole("separator", { name: "Width of the table" });
  await stays(async () => { await divider.focus(); for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowRight"); });
  await until(async () => (await table.boundingBox()).width > wide + 100, "the table is wider");
  await stays(() => page.getByRole("link", { name: "Close the message" }).click());
  await page.getByText("Columns", { exact: true }).click();
  await page.getByLabel("Add a property as a column").fill("tenant");
  await button("Add").click();
  await page.keyboard.press("Escape");
  await table.getByRole("button", { name: "tenant" }).click();
  await until(async () => (await table.getByRole("row").allTextContents()).slice(1, 4).map((t) => /ends-in-\d/.exec(t)?.[0].slice(-1)).join() === "1,0,2", "they are in the order of the property");
  await check(page, "a table with a column of a property");
  await page.getByText("+ Filter").click();
  await page.getByRole("searchbox", { name: "Message id" }).fill("a-long-id-that-ends-in-2");
  await button("Clear the filter message id a-long-id-that-ends-in-2").waitFor();
  await sees("1 shown");
  await fetch(`${address}/$minibus/v1/namespaces/${namespace}/entities/typed/messages`, { method: "POST", headers: { "Content-Type": "application/json" },
    body: JSON.stringify([{ messageId: { uuid: "5f2c1b6a-0d3e-4b7a-9c1d-2e3f4a5b6c7d" }, body: "x" }, { messageId: { binary: "AQL/" }, body: "x" }, { messageId: { ulong: "7" }, body: "x" }]) });
  for (const [typed, shown] of [["5F2C1B6A-0D3E-4B7A-9C1D-2E3F4A5B6C7D", "5f2c1b6a-0d3e"], ["0102ff", "0102ff"], ["7", "7"]]) { // ids that are no texts
    await to(`/entity/typed/messages?messageId=${typed}`);
    await row(shown).waitFor();
    await sees("1 shown");
  }
  await to("/entity/typed/messages?state=scheduled");
  await row(/due in 5\d min/).waitFor();
  await page.getByLabel("SQL filter: amount > 100").fill("amount > > 5");
  await page.getByRole("alert").locator("mark").getByText(">").waitFor();
  await refused(page, 400);
});
